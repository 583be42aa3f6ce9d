//! Python's pattern syntax to a program.

use std::collections::BTreeMap;

use super::emit::{Node, emit, push};
use super::program::{Class, Instr, Place, Program, fold};
use super::{GROUPS_MAX, LOOKS_MAX, NESTING_MAX, PATTERN_BYTES_MAX, flag};
use crate::unicode;

/// Why a pattern is refused, with its place in characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PatternError {
    pub(crate) message: String,
    pub(crate) place: usize,
    /// Instructions that were made before it was refused.
    pub(crate) emitted: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct Compiled {
    pub(crate) program: Program,
    pub(crate) names: Vec<(String, usize)>,
    pub(crate) flags: u32,
}

pub(super) type Parsed<T> = Result<T, PatternError>;

/// Reads a pattern from left to right.
pub(super) struct Parser {
    pub(super) chars: Vec<char>,
    pub(super) at: usize,
    flags: u32,
    pub(super) classes: Vec<Class>,
    pub(super) class_numbers: BTreeMap<Class, u32>,
    groups: usize,
    looks: usize,
    names: Vec<(String, usize)>,
    depth: usize,
}

pub(crate) fn compile(pattern: &str, flags: u32) -> Parsed<Compiled> {
    let refuse = |message: &str, emitted: usize| {
        let message = message.to_owned();
        PatternError { message, place: 0, emitted }
    };
    if pattern.len() > PATTERN_BYTES_MAX {
        return Err(refuse("the pattern is too long", 0));
    }
    let mut parser = Parser {
        chars: pattern.chars().collect(),
        at: 0,
        flags,
        classes: Vec::new(),
        class_numbers: BTreeMap::new(),
        groups: 0,
        looks: 0,
        names: Vec::new(),
        depth: 0,
    };
    let node = parser.alternatives()?;
    if parser.peek().is_some() {
        return Err(parser.error("unbalanced parenthesis"));
    }
    let mut program = Program {
        instrs: Vec::new(),
        classes: parser.classes,
        groups: parser.groups,
        looks: parser.looks,
    };
    let whole = Node::Group(0, Box::new(node));
    emit(&mut program.instrs, &whole)
        .and_then(|()| push(&mut program.instrs, Instr::Match))
        .map_err(|()| refuse("the pattern is too large", program.instrs.len()))?;
    // Counted repetitions copy them.
    if program.look_count() > LOOKS_MAX {
        return Err(refuse("too many looks ahead or behind", program.instrs.len()));
    }
    let ascii = parser.flags & flag::ASCII != 0;
    let flags = parser.flags | if ascii { 0 } else { flag::UNICODE };
    Ok(Compiled { program, names: parser.names, flags })
}

impl Parser {
    fn error(&self, message: &str) -> PatternError {
        self.error_at(message, self.at)
    }

    pub(super) fn error_at(&self, message: &str, place: usize) -> PatternError {
        PatternError { message: message.to_owned(), place, emitted: 0 }
    }

    pub(super) fn has(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let char = self.peek();
        self.at += usize::from(char.is_some());
        char
    }

    pub(super) fn eat(&mut self, char: char) -> bool {
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
                Some(char) if unicode::is_whitespace(char) => self.at += 1,
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
            // What becomes no instruction is not gone over again for each copy of what is around it.
            if !item.is_nothing() {
                items.push(item);
            }
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

    pub(super) fn literal(&self, char: char) -> Node {
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
                Some(mark @ ('=' | '!')) => return self.look(start, false, mark == '!').map(Some),
                Some('<') => match self.next() {
                    Some(mark @ ('=' | '!')) => {
                        return self.look(start, true, mark == '!').map(Some);
                    }
                    Some(mark) => {
                        let message = format!("unknown extension ?<{mark}");
                        return Err(self.error_at(&message, start + 1));
                    }
                    None => return Err(self.error("unexpected end of pattern")),
                },
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

    fn look(&mut self, start: usize, behind: bool, negative: bool) -> Parsed<Node> {
        if self.looks == LOOKS_MAX {
            return Err(self.error_at("too many looks ahead or behind", start));
        }
        let number = self.looks as u32;
        self.looks += 1;
        let outer = self.flags;
        let inner = Box::new(self.alternatives()?);
        if !self.eat(')') {
            return Err(self.error_at("missing ), unterminated subpattern", start));
        }
        self.flags = outer;
        if behind && inner.width().is_none() {
            return Err(self.error_at("look-behind requires fixed-width pattern", 0));
        }
        Ok(Node::Look { behind, negative, number, inner })
    }

    pub(super) fn no_backtracking(&self, what: &str, start: usize) -> PatternError {
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
        let good = chars.next().is_some_and(|char| char == '_' || unicode::is_alphabetic(char))
            && chars.all(|char| char == '_' || unicode::is_alphanumeric(char));
        if good {
            return Ok(name);
        }
        let message = match name.is_empty() {
            true => "missing group name".to_owned(),
            false => format!("bad character in group name '{name}'"),
        };
        Err(self.error_at(&message, start))
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
