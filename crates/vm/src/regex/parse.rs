//! Python's pattern syntax to a program.

use super::program::{Class, Instr, Item, Named, Place, Program, fold};
use super::{GROUPS_MAX, INSTRUCTIONS_MAX, NESTING_MAX, PATTERN_BYTES_MAX, flag};

/// Why a pattern is refused, with its place in characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PatternError {
    pub(crate) message: String,
    pub(crate) place: usize,
}

/// A pattern that compiled.
#[derive(Clone, Debug)]
pub(crate) struct Compiled {
    pub(crate) program: Program,
    pub(crate) names: Vec<(String, usize)>,
    pub(crate) flags: u32,
}

type Parsed<T> = Result<T, PatternError>;

#[derive(Clone, Debug)]
enum Node {
    One(Instr),
    Sequence(Vec<Node>),
    /// In order of preference.
    Either(Vec<Node>),
    Repeat {
        inner: Box<Node>,
        least: u32,
        most: Option<u32>,
        greedy: bool,
    },
    Group(u32, Box<Node>),
}

struct Parser {
    chars: Vec<char>,
    at: usize,
    flags: u32,
    classes: Vec<Class>,
    groups: usize,
    names: Vec<(String, usize)>,
    depth: usize,
}

pub(crate) fn compile(pattern: &str, flags: u32) -> Parsed<Compiled> {
    let refuse = |message: &str| PatternError { message: message.to_owned(), place: 0 };
    if pattern.len() > PATTERN_BYTES_MAX {
        return Err(refuse("the pattern is too long"));
    }
    let mut parser = Parser {
        chars: pattern.chars().collect(),
        at: 0,
        flags,
        classes: Vec::new(),
        groups: 0,
        names: Vec::new(),
        depth: 0,
    };
    let node = parser.alternatives()?;
    if parser.peek().is_some() {
        return Err(parser.error("unbalanced parenthesis"));
    }
    let mut program =
        Program { instrs: Vec::new(), classes: parser.classes, groups: parser.groups };
    let whole = Node::Group(0, Box::new(node));
    emit(&mut program.instrs, &whole)
        .and_then(|()| push(&mut program.instrs, Instr::Match))
        .map_err(|()| refuse("the pattern is too large"))?;
    let ascii = parser.flags & flag::ASCII != 0;
    let flags = parser.flags | if ascii { 0 } else { flag::UNICODE };
    Ok(Compiled { program, names: parser.names, flags })
}

impl Parser {
    fn error(&self, message: &str) -> PatternError {
        self.error_at(message, self.at)
    }

    fn error_at(&self, message: &str, place: usize) -> PatternError {
        PatternError { message: message.to_owned(), place }
    }

    fn has(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let char = self.peek();
        self.at += usize::from(char.is_some());
        char
    }

    fn eat(&mut self, char: char) -> bool {
        let found = self.peek() == Some(char);
        self.at += usize::from(found);
        found
    }

    fn alternatives(&mut self) -> Parsed<Node> {
        self.depth += 1;
        if self.depth > NESTING_MAX {
            return Err(self.error("too many nested groups"));
        }
        let mut all = vec![self.sequence()?];
        while self.eat('|') {
            all.push(self.sequence()?);
        }
        self.depth -= 1;
        Ok(if all.len() == 1 { all.swap_remove(0) } else { Node::Either(all) })
    }

    fn skip_blank(&mut self) {
        while self.has(flag::VERBOSE) {
            match self.peek() {
                Some('#') => while self.next().is_some_and(|char| char != '\n') {},
                Some(char) if char.is_whitespace() => self.at += 1,
                _ => return,
            }
        }
    }

    fn sequence(&mut self) -> Parsed<Node> {
        let mut items = Vec::new();
        loop {
            self.skip_blank();
            match self.peek() {
                None | Some('|' | ')') => break,
                _ => {}
            }
            let start = self.at;
            let Some(item) = self.atom()? else { continue };
            self.skip_blank();
            let item = self.repeated(item, start)?;
            items.push(item);
        }
        Ok(if items.len() == 1 { items.swap_remove(0) } else { Node::Sequence(items) })
    }

    fn repeated(&mut self, item: Node, start: usize) -> Parsed<Node> {
        let place = self.at;
        let Some((least, most)) = self.quantifier()? else { return Ok(item) };
        if matches!(item, Node::One(Instr::Assert(_))) {
            return Err(self.error_at("nothing to repeat", start));
        }
        if self.eat('+') {
            return Err(self.error_at("possessive repeats are not supported", place));
        }
        let greedy = !self.eat('?');
        self.skip_blank();
        let before = self.at;
        if self.quantifier()?.is_some() {
            return Err(self.error_at("multiple repeat", before));
        }
        self.at = before;
        Ok(Node::Repeat { inner: Box::new(item), least, most, greedy })
    }

    fn quantifier(&mut self) -> Parsed<Option<(u32, Option<u32>)>> {
        let start = self.at;
        Ok(match self.peek() {
            Some('*') => self.simple(0, None),
            Some('+') => self.simple(1, None),
            Some('?') => self.simple(0, Some(1)),
            Some('{') => {
                self.at += 1;
                let least = self.number();
                let most = if self.eat(',') { self.number() } else { least };
                let closed = self.eat('}');
                let comma = self.chars[start..self.at].contains(&',');
                if !closed || least.is_none() && !comma {
                    // Not a repetition: the brace stands for itself.
                    self.at = start;
                    return Ok(None);
                }
                let least = least.unwrap_or(0);
                if most.is_some_and(|most| most < least) {
                    return Err(self.error_at("min repeat greater than max repeat", start + 1));
                }
                Some((least, most))
            }
            _ => None,
        })
    }

    fn simple(&mut self, least: u32, most: Option<u32>) -> Option<(u32, Option<u32>)> {
        self.at += 1;
        Some((least, most))
    }

    fn number(&mut self) -> Option<u32> {
        let mut value = None;
        while let Some(digit) = self.peek().and_then(|char| char.to_digit(10)) {
            self.at += 1;
            value = Some(value.unwrap_or(0u32).saturating_mul(10).saturating_add(digit));
        }
        value
    }

    /// One thing that can be repeated; None for what only sets flags or says nothing.
    fn atom(&mut self) -> Parsed<Option<Node>> {
        let start = self.at;
        let Some(char) = self.next() else { return Ok(None) };
        let node = match char {
            '.' if self.has(flag::DOTALL) => Node::One(Instr::AnyOrNewline),
            '.' => Node::One(Instr::Any),
            '^' if self.has(flag::MULTILINE) => Node::One(Instr::Assert(Place::LineStart)),
            '^' => Node::One(Instr::Assert(Place::Start)),
            '$' if self.has(flag::MULTILINE) => Node::One(Instr::Assert(Place::LineEnd)),
            '$' => Node::One(Instr::Assert(Place::LastEnd)),
            '(' => return self.group(start),
            '[' => self.class(start)?,
            '\\' => self.escape(start)?,
            '*' | '+' | '?' => return Err(self.error_at("nothing to repeat", start)),
            char => self.literal(char),
        };
        Ok(Some(node))
    }

    fn literal(&self, char: char) -> Node {
        let folded = self.has(flag::IGNORECASE);
        Node::One(if folded { Instr::Folded(fold(char)) } else { Instr::Char(char) })
    }

    fn group(&mut self, start: usize) -> Parsed<Option<Node>> {
        let outer = self.flags;
        let mut number = None;
        if self.eat('?') {
            match self.next() {
                Some(':') => {}
                Some('P') => match self.next() {
                    Some('<') => {
                        let name = self.name('>')?;
                        number = Some(self.new_group(start)?);
                        let known = self.names.iter().find(|(known, _)| *known == name);
                        if let Some((_, first)) = known {
                            let second = self.groups;
                            let message = format!(
                                "redefinition of group name '{name}' as group {second}; was group {first}"
                            );
                            return Err(self.error_at(&message, start + 4));
                        }
                        self.names.push((name, self.groups));
                    }
                    Some('=') => return Err(self.no_backtracking("backreferences", start)),
                    _ => return Err(self.error_at("unknown extension ?P", start + 1)),
                },
                Some('#') => {
                    while let Some(char) = self.next() {
                        if char == ')' {
                            return Ok(None);
                        }
                    }
                    return Err(self.error_at("missing ), unterminated comment", start));
                }
                Some('=' | '!') => return Err(self.no_backtracking("looking ahead", start)),
                Some('<') => return Err(self.no_backtracking("looking behind", start)),
                Some('>') => return Err(self.no_backtracking("atomic groups", start)),
                Some('(') => return Err(self.no_backtracking("conditional groups", start)),
                Some(char) if char == '-' || flag_of(char).is_some() => {
                    self.at -= 1;
                    if self.set_flags(start)? {
                        return Ok(None);
                    }
                }
                Some(char) => {
                    let message = format!("unknown extension ?{char}");
                    return Err(self.error_at(&message, start + 1));
                }
                None => return Err(self.error("unexpected end of pattern")),
            }
        } else {
            number = Some(self.new_group(start)?);
        }
        let inner = self.alternatives()?;
        if !self.eat(')') {
            return Err(self.error_at("missing ), unterminated subpattern", start));
        }
        self.flags = outer;
        Ok(Some(match number {
            Some(number) => Node::Group(number, Box::new(inner)),
            // A sequence of its own, so that a repetition takes all of it.
            None => Node::Sequence(vec![inner]),
        }))
    }

    fn no_backtracking(&self, what: &str, start: usize) -> PatternError {
        let message = format!("{what} would need backtracking and is not supported");
        self.error_at(&message, start)
    }

    fn new_group(&mut self, start: usize) -> Parsed<u32> {
        if self.groups == GROUPS_MAX {
            return Err(self.error_at("too many groups", start));
        }
        self.groups += 1;
        Ok(self.groups as u32)
    }

    /// True if the flags are for the whole pattern.
    fn set_flags(&mut self, start: usize) -> Parsed<bool> {
        let mut on = true;
        loop {
            match self.next() {
                Some('-') => on = false,
                Some(')') if on => {
                    if start != 0 {
                        let message = "global flags not at the start of the expression";
                        return Err(self.error_at(message, start));
                    }
                    return Ok(true);
                }
                Some(':') => return Ok(false),
                Some(char) => match flag_of(char) {
                    Some(flag) if on => self.flags |= flag,
                    Some(flag) => self.flags &= !flag,
                    None => return Err(self.error("unknown flag")),
                },
                None => return Err(self.error("missing -, : or )")),
            }
        }
    }

    fn name(&mut self, end: char) -> Parsed<String> {
        let start = self.at;
        let mut name = String::new();
        loop {
            match self.next() {
                Some(char) if char == end => break,
                Some(char) => name.push(char),
                None => return Err(self.error_at("missing >, unterminated name", start)),
            }
        }
        let mut chars = name.chars();
        let good = chars.next().is_some_and(|char| char == '_' || char.is_alphabetic())
            && chars.all(|char| char == '_' || char.is_alphanumeric());
        if good {
            return Ok(name);
        }
        let message = match name.is_empty() {
            true => "missing group name".to_owned(),
            false => format!("bad character in group name '{name}'"),
        };
        Err(self.error_at(&message, start))
    }

    fn named(&self, char: char) -> Option<Named> {
        let ascii = self.has(flag::ASCII);
        Some(match char {
            'd' if ascii => Named::AsciiDigit,
            'D' if ascii => Named::NotAsciiDigit,
            'w' if ascii => Named::AsciiWord,
            'W' if ascii => Named::NotAsciiWord,
            's' if ascii => Named::AsciiSpace,
            'S' if ascii => Named::NotAsciiSpace,
            'd' => Named::Digit,
            'D' => Named::NotDigit,
            'w' => Named::Word,
            'W' => Named::NotWord,
            's' => Named::Space,
            'S' => Named::NotSpace,
            _ => return None,
        })
    }

    fn add_class(&mut self, class: Class) -> Node {
        let known = self.classes.iter().position(|other| *other == class);
        let number = known.unwrap_or(self.classes.len());
        if known.is_none() {
            self.classes.push(class);
        }
        Node::One(Instr::Class(number as u32))
    }

    fn escape(&mut self, start: usize) -> Parsed<Node> {
        let Some(char) = self.next() else {
            return Err(self.error_at("bad escape (end of pattern)", start));
        };
        if let Some(named) = self.named(char) {
            return Ok(
                self.add_class(Class { items: vec![Item::Named(named)], ..Class::default() })
            );
        }
        let ascii = self.has(flag::ASCII);
        let place = match char {
            'A' => Place::Start,
            'Z' => Place::End,
            'b' if ascii => Place::AsciiWord,
            'B' if ascii => Place::NotAsciiWord,
            'b' => Place::Word,
            'B' => Place::NotWord,
            '1'..='9' => return Err(self.no_backtracking("backreferences", start)),
            char => {
                let char = self.escaped(char, start)?;
                return Ok(self.literal(char));
            }
        };
        Ok(Node::One(Instr::Assert(place)))
    }

    /// A character that an escape stands for, in a class or outside.
    fn escaped(&mut self, char: char, start: usize) -> Parsed<char> {
        Ok(match char {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'f' => '\u{c}',
            'v' => '\u{b}',
            'a' => '\u{7}',
            '0' => {
                let mut value = 0;
                for _ in 0..2 {
                    if let Some(digit) = self.peek().and_then(|char| char.to_digit(8)) {
                        self.at += 1;
                        value = value * 8 + digit;
                    }
                }
                char::from_u32(value).unwrap_or('\0')
            }
            'x' => self.hexadecimal(2, start)?,
            'u' => self.hexadecimal(4, start)?,
            'U' => self.hexadecimal(8, start)?,
            char if char.is_ascii_alphanumeric() => {
                return Err(self.error_at(&format!("bad escape \\{char}"), start));
            }
            char => char,
        })
    }

    fn hexadecimal(&mut self, digits: usize, start: usize) -> Parsed<char> {
        let mut value = 0u32;
        for _ in 0..digits {
            let Some(digit) = self.next().and_then(|char| char.to_digit(16)) else {
                return Err(self.error_at("incomplete escape", start));
            };
            value = value.wrapping_mul(16).wrapping_add(digit);
        }
        char::from_u32(value).ok_or_else(|| self.error_at("bad escape", start))
    }

    fn class(&mut self, start: usize) -> Parsed<Node> {
        let negated = self.eat('^');
        let folded = self.has(flag::IGNORECASE);
        let mut class = Class { negated, folded, items: Vec::new() };
        let first = self.at;
        loop {
            let place = self.at;
            let Some(char) = self.next() else {
                return Err(self.error_at("unterminated character set", start));
            };
            if char == ']' && place != first {
                break;
            }
            let low = self.member(char, place)?;
            let range = self.peek() == Some('-')
                && self.chars.get(self.at + 1).is_some_and(|char| *char != ']');
            if !range {
                class.items.push(match low {
                    Ok(char) => Item::Range(char as u32, char as u32),
                    Err(named) => Item::Named(named),
                });
                continue;
            }
            self.at += 1;
            let at = self.at;
            let Some(char) = self.next() else {
                return Err(self.error_at("unterminated character set", start));
            };
            let high = self.member(char, at)?;
            let text: String = self.chars[place..self.at].iter().collect();
            match (low, high) {
                (Ok(low), Ok(high)) if low <= high => {
                    class.items.push(Item::Range(low as u32, high as u32));
                }
                _ => {
                    let message = format!("bad character range {text}");
                    return Err(self.error_at(&message, place));
                }
            }
        }
        Ok(self.add_class(class))
    }

    /// A character of a class, or one of the named classes.
    fn member(&mut self, char: char, place: usize) -> Parsed<Result<char, Named>> {
        if char != '\\' {
            return Ok(Ok(char));
        }
        let Some(char) = self.next() else {
            return Err(self.error_at("bad escape (end of pattern)", place));
        };
        if let Some(named) = self.named(char) {
            return Ok(Err(named));
        }
        if char == 'b' {
            return Ok(Ok('\u{8}'));
        }
        self.escaped(char, place).map(Ok)
    }
}

fn flag_of(char: char) -> Option<u32> {
    Some(match char {
        'i' => flag::IGNORECASE,
        'm' => flag::MULTILINE,
        's' => flag::DOTALL,
        'x' => flag::VERBOSE,
        'a' => flag::ASCII,
        'u' => flag::UNICODE,
        _ => return None,
    })
}

impl Node {
    /// Whether it can match nothing.
    fn can_be_empty(&self) -> bool {
        match self {
            Node::One(instr) => matches!(instr, Instr::Assert(_)),
            Node::Sequence(items) => items.iter().all(Node::can_be_empty),
            Node::Either(items) => items.iter().any(Node::can_be_empty),
            Node::Repeat { inner, least, .. } => *least == 0 || inner.can_be_empty(),
            Node::Group(_, inner) => inner.can_be_empty(),
        }
    }
}

fn push(out: &mut Vec<Instr>, instr: Instr) -> Result<(), ()> {
    if out.len() >= INSTRUCTIONS_MAX {
        return Err(());
    }
    out.push(instr);
    Ok(())
}

/// Sets the way of a split that was left open.
fn patch(out: &mut [Instr], at: usize, inside_first: bool, target: usize) {
    let next = at as u32 + 1;
    out[at] = match inside_first {
        true => Instr::Split(next, target as u32),
        false => Instr::Split(target as u32, next),
    };
}

fn emit(out: &mut Vec<Instr>, node: &Node) -> Result<(), ()> {
    match node {
        Node::One(instr) => push(out, *instr),
        Node::Sequence(items) => items.iter().try_for_each(|item| emit(out, item)),
        Node::Either(items) => {
            let mut ends = Vec::new();
            for (index, item) in items.iter().enumerate() {
                if index + 1 == items.len() {
                    emit(out, item)?;
                    break;
                }
                let split = out.len();
                push(out, Instr::Jump(0))?;
                emit(out, item)?;
                ends.push(out.len());
                push(out, Instr::Jump(0))?;
                let here = out.len();
                patch(out, split, true, here);
            }
            let here = out.len() as u32;
            ends.iter().for_each(|end| out[*end] = Instr::Jump(here));
            Ok(())
        }
        Node::Group(number, inner) => {
            push(out, Instr::Save(2 * number))?;
            emit(out, inner)?;
            push(out, Instr::Save(2 * number + 1))
        }
        Node::Repeat { inner, least, most, greedy } => {
            emit_repeat(out, inner, *least, *most, *greedy)
        }
    }
}

fn emit_repeat(
    out: &mut Vec<Instr>,
    inner: &Node,
    least: u32,
    most: Option<u32>,
    greedy: bool,
) -> Result<(), ()> {
    // What matches nothing, taken often, is still nothing; the pushes below bound the rest.
    let empty = inner.can_be_empty();
    for index in 0..least {
        if index + 1 == least && most.is_none() {
            return emit_plus(out, inner, greedy);
        }
        let before = out.len();
        emit(out, inner)?;
        if out.len() == before {
            return Ok(());
        }
    }
    match most {
        None if empty => {
            // Once around and then again, so that a group that can match nothing is set.
            let split = out.len();
            push(out, Instr::Jump(0))?;
            emit_plus(out, inner, greedy)?;
            let here = out.len();
            patch(out, split, greedy, here);
        }
        None => {
            let split = out.len();
            push(out, Instr::Jump(0))?;
            emit(out, inner)?;
            push(out, Instr::Jump(split as u32))?;
            let here = out.len();
            patch(out, split, greedy, here);
        }
        Some(most) => {
            let mut splits = Vec::new();
            for _ in least..most {
                splits.push(out.len());
                push(out, Instr::Jump(0))?;
                emit(out, inner)?;
            }
            let here = out.len();
            splits.iter().for_each(|split| patch(out, *split, greedy, here));
        }
    }
    Ok(())
}

fn emit_plus(out: &mut Vec<Instr>, inner: &Node, greedy: bool) -> Result<(), ()> {
    let start = out.len() as u32;
    emit(out, inner)?;
    let next = out.len() as u32 + 1;
    push(out, if greedy { Instr::Split(start, next) } else { Instr::Split(next, start) })
}
