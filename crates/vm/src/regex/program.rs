//! Compiled patterns: instructions, classes of characters, and their form as bytes.

use super::{GROUPS_MAX, INSTRUCTIONS_MAX, LOOKS_MAX};
use crate::unicode;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Instr {
    Char(char),
    /// This character, whatever its case; lower case here.
    Folded(char),
    /// Any character but a newline.
    Any,
    AnyOrNewline,
    /// A character of the class with this number.
    Class(u32),
    /// Both ways, the first preferred.
    Split(u32, u32),
    Jump(u32),
    Save(u32),
    Assert(Place),
    /// What stands ahead or behind, up to its own `Match`; then on to `after`. Each has a number.
    Look {
        behind: bool,
        negative: bool,
        number: u32,
        after: u32,
    },
    Match,
}

/// Assertions about a place in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Start,
    /// After a newline, too.
    LineStart,
    End,
    /// The end, or before a newline at the end.
    LastEnd,
    LineEnd,
    Word,
    NotWord,
    AsciiWord,
    NotAsciiWord,
}

impl Place {
    /// Cycles beyond those of any instruction: borders of words look two characters up in tables.
    pub(super) fn price(self) -> u64 {
        if matches!(self, Place::Word | Place::NotWord) { 3 } else { 0 }
    }
}

const PLACES: [Place; 9] = [
    Place::Start,
    Place::LineStart,
    Place::End,
    Place::LastEnd,
    Place::LineEnd,
    Place::Word,
    Place::NotWord,
    Place::AsciiWord,
    Place::NotAsciiWord,
];

/// A part of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Item {
    Range(u32, u32),
    Named(Named),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Named {
    Digit,
    NotDigit,
    Word,
    NotWord,
    Space,
    NotSpace,
    AsciiWord,
    NotAsciiWord,
    AsciiSpace,
    NotAsciiSpace,
    AsciiDigit,
    NotAsciiDigit,
}

const NAMED: [Named; 12] = [
    Named::Digit,
    Named::NotDigit,
    Named::Word,
    Named::NotWord,
    Named::Space,
    Named::NotSpace,
    Named::AsciiWord,
    Named::NotAsciiWord,
    Named::AsciiSpace,
    Named::NotAsciiSpace,
    Named::AsciiDigit,
    Named::NotAsciiDigit,
];

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Class {
    negated: bool,
    /// Case does not matter.
    folded: bool,
    items: Vec<Item>,
    /// Cycles to look a character up in it, beyond those of any instruction.
    pub(crate) price: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Program {
    pub(crate) instrs: Vec<Instr>,
    pub(crate) classes: Vec<Class>,
    /// Groups that capture, the whole match not counted.
    pub(crate) groups: usize,
    /// Looks ahead or behind; where each was passed is remembered, too.
    pub(crate) looks: usize,
}

impl Program {
    /// Places that a match remembers.
    pub(crate) fn slots(&self) -> usize {
        2 * (self.groups + 1) + self.looks
    }

    pub(super) fn look_count(&self) -> usize {
        self.instrs.iter().filter(|instr| matches!(instr, Instr::Look { .. })).count()
    }

    /// The place at which a look was passed.
    pub(super) fn look_slot(&self, number: u32) -> usize {
        2 * (self.groups + 1) + number as usize
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut out = vec![self.groups as u8];
        out.extend((self.classes.len() as u32).to_le_bytes());
        for class in &self.classes {
            out.extend([u8::from(class.negated), u8::from(class.folded)]);
            out.extend((class.items.len() as u32).to_le_bytes());
            for item in &class.items {
                let (low, high) = match item {
                    Item::Range(low, high) => (*low, *high),
                    Item::Named(named) => (u32::MAX, *named as u32),
                };
                out.extend(low.to_le_bytes());
                out.extend(high.to_le_bytes());
            }
        }
        for instr in &self.instrs {
            let (op, a, b) = match *instr {
                Instr::Char(char) => (0, char as u32, 0),
                Instr::Folded(char) => (1, char as u32, 0),
                Instr::Any => (2, 0, 0),
                Instr::AnyOrNewline => (3, 0, 0),
                Instr::Class(class) => (4, class, 0),
                Instr::Split(a, b) => (5, a, b),
                Instr::Jump(target) => (6, target, 0),
                Instr::Save(slot) => (7, slot, 0),
                Instr::Assert(place) => (8, place as u32, 0),
                Instr::Match => (9, 0, 0),
                Instr::Look { behind, negative, number, after } => {
                    (10, u32::from(behind) | u32::from(negative) << 1 | number << 2, after)
                }
            };
            out.push(op);
            out.extend(a.to_le_bytes());
            out.extend(b.to_le_bytes());
        }
        out
    }

    /// None if the bytes are no program: jumps go to instructions, places and classes exist.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Program> {
        let mut bytes = Bytes(bytes);
        let groups = bytes.byte()? as usize;
        let count = bytes.number()? as usize;
        if groups > GROUPS_MAX || count > bytes.0.len() {
            return None;
        }
        let mut program = Program { groups, ..Program::default() };
        for _ in 0..count {
            let (negated, folded) = (bytes.byte()? == 1, bytes.byte()? == 1);
            let mut items = Vec::new();
            for _ in 0..bytes.number()? {
                items.push(match (bytes.number()?, bytes.number()?) {
                    (u32::MAX, named) => Item::Named(*NAMED.get(named as usize)?),
                    (low, high) => Item::Range(low, high),
                });
            }
            program.classes.push(Class::new(negated, folded, items));
        }
        let length = bytes.0.len() / 9;
        if bytes.0.len() % 9 != 0 || length == 0 || length > INSTRUCTIONS_MAX {
            return None;
        }
        let target = |place: u32| ((place as usize) < length).then_some(place);
        for _ in 0..length {
            let (op, a, b) = (bytes.byte()?, bytes.number()?, bytes.number()?);
            program.instrs.push(match op {
                0 => Instr::Char(char::from_u32(a)?),
                1 => Instr::Folded(char::from_u32(a)?),
                2 => Instr::Any,
                3 => Instr::AnyOrNewline,
                4 => Instr::Class(Some(a).filter(|class| (*class as usize) < count)?),
                5 => Instr::Split(target(a)?, target(b)?),
                6 => Instr::Jump(target(a)?),
                7 => Instr::Save(Some(a).filter(|slot| (*slot as usize) < 2 * (groups + 1))?),
                8 => Instr::Assert(*PLACES.get(a as usize)?),
                9 => Instr::Match,
                10 => {
                    let number = a >> 2;
                    let (here, after) = (program.instrs.len() as u32, target(b)?);
                    if number as usize >= LOOKS_MAX || after <= here {
                        return None;
                    }
                    program.looks = program.looks.max(number as usize + 1);
                    Instr::Look { behind: a & 1 == 1, negative: a & 2 == 2, number, after }
                }
                _ => return None,
            });
        }
        if program.look_count() > LOOKS_MAX {
            return None;
        }
        // Every way ends at an instruction that does not go on to the next.
        let last = program.instrs.last()?;
        matches!(last, Instr::Match | Instr::Jump(_) | Instr::Split(..)).then_some(program)
    }
}

struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn number(&mut self) -> Option<u32> {
        let (first, rest) = self.0.split_first_chunk::<4>()?;
        self.0 = rest;
        Some(u32::from_le_bytes(*first))
    }
}

impl Class {
    /// A named one counts once, however often it is there.
    pub(super) fn new(negated: bool, folded: bool, mut items: Vec<Item>) -> Self {
        let mut seen = [false; NAMED.len()];
        items.retain(|item| match item {
            Item::Named(named) => !std::mem::replace(&mut seen[*named as usize], true),
            Item::Range(..) => true,
        });
        let named = seen.iter().filter(|seen| **seen).count() as u64;
        let ranges = (items.len() as u64 - named) / 4;
        // The first named one is usual. Where case does not matter each is asked for three characters.
        let price =
            if folded { 4 + ranges + 4 * named } else { ranges + 2 * named.saturating_sub(1) };
        Self { negated, folded, items, price }
    }

    pub(crate) fn contains(&self, char: char) -> bool {
        let plain = self.items.iter().any(|item| item.contains(char));
        let found = plain
            || self.folded && {
                let (lower, upper) = (fold(char), unfold(char));
                self.items.iter().any(|item| item.contains(lower) || item.contains(upper))
            };
        found != self.negated
    }
}

impl Item {
    fn contains(&self, char: char) -> bool {
        match *self {
            Item::Range(low, high) => (low..=high).contains(&(char as u32)),
            Item::Named(named) => named.contains(char),
        }
    }
}

impl Named {
    fn contains(self, char: char) -> bool {
        match self {
            Named::Digit => is_digit(char),
            Named::NotDigit => !is_digit(char),
            Named::Word => is_word(char),
            Named::NotWord => !is_word(char),
            Named::Space => is_space(char),
            Named::NotSpace => !is_space(char),
            Named::AsciiWord => is_ascii_word(char),
            Named::NotAsciiWord => !is_ascii_word(char),
            Named::AsciiSpace => is_ascii_space(char),
            Named::NotAsciiSpace => !is_ascii_space(char),
            Named::AsciiDigit => char.is_ascii_digit(),
            Named::NotAsciiDigit => !char.is_ascii_digit(),
        }
    }
}

/// Decimal digits: letters of other scripts that count ten in a row from a zero are few; those of the
/// scripts in wide use are here.
pub(crate) fn is_digit(char: char) -> bool {
    digit(char).is_some()
}

/// What a decimal digit of any script is worth.
pub(crate) fn digit(char: char) -> Option<u8> {
    const ZEROS: [u32; 12] =
        [0x30, 0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xe50, 0xff10];
    let code = char as u32;
    ZEROS.iter().find_map(|zero| {
        let worth = code.checked_sub(*zero)?;
        u8::try_from(worth).ok().filter(|worth| *worth < 10)
    })
}

pub(super) fn is_word(char: char) -> bool {
    char == '_' || unicode::is_alphanumeric(char)
}

pub(super) fn is_ascii_word(char: char) -> bool {
    char == '_' || char.is_ascii_alphanumeric()
}

fn is_space(char: char) -> bool {
    unicode::is_whitespace(char) || ('\u{1c}'..='\u{1f}').contains(&char)
}

fn is_ascii_space(char: char) -> bool {
    matches!(char, ' ' | '\t' | '\n' | '\r' | '\u{b}' | '\u{c}')
}

/// Lower case, where that is one character.
pub(super) fn fold(char: char) -> char {
    if char.is_ascii() {
        return char.to_ascii_lowercase();
    }
    let mut lower = unicode::lower(char);
    let lower = match (lower.next(), lower.next()) {
        (Some(lower), None) => lower,
        _ => char,
    };
    one_of(lower)
}

/// Small letters that share a capital one count as the same, as they do for Python.
fn one_of(lower: char) -> char {
    match lower {
        'ı' => 'i',
        'ſ' => 's',
        'µ' => 'μ',
        '\u{345}' | '\u{1fbe}' => 'ι',
        '\u{1fd3}' => 'ΐ',
        '\u{1fe3}' => 'ΰ',
        'ϐ' => 'β',
        'ϵ' => 'ε',
        'ϑ' => 'θ',
        'ϰ' => 'κ',
        'ϖ' => 'π',
        'ϱ' => 'ρ',
        'ς' => 'σ',
        'ϕ' => 'φ',
        '\u{1c80}' => 'в',
        '\u{1c81}' => 'д',
        '\u{1c82}' => 'о',
        '\u{1c83}' => 'с',
        '\u{1c84}' | '\u{1c85}' => 'т',
        '\u{1c86}' => 'ъ',
        '\u{1c87}' => 'ѣ',
        '\u{1c88}' => '\u{a64b}',
        '\u{1e9b}' => '\u{1e61}',
        '\u{fb05}' => '\u{fb06}',
        other => other,
    }
}

fn unfold(char: char) -> char {
    let mut upper = unicode::upper(char);
    match (upper.next(), upper.next()) {
        (Some(upper), None) => upper,
        _ => char,
    }
}
