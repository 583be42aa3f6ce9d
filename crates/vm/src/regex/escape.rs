//! Escapes and classes of characters.

use super::emit::Node;
use super::flag;
use super::parse::{Parsed, Parser};
use super::program::{Class, Instr, Item, Named, Place};

impl Parser {
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
        let next = self.classes.len() as u32;
        let number = *self.class_numbers.entry(class.clone()).or_insert(next);
        if number == next {
            self.classes.push(class);
        }
        Node::One(Instr::Class(number))
    }

    pub(super) fn escape(&mut self, start: usize) -> Parsed<Node> {
        let Some(char) = self.next() else {
            return Err(self.error_at("bad escape (end of pattern)", start));
        };
        if let Some(named) = self.named(char) {
            return Ok(self.add_class(Class::new(false, false, vec![Item::Named(named)])));
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

    pub(super) fn class(&mut self, start: usize) -> Parsed<Node> {
        let negated = self.eat('^');
        let folded = self.has(flag::IGNORECASE);
        let mut items = Vec::new();
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
                items.push(match low {
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
                    items.push(Item::Range(low as u32, high as u32));
                }
                _ => {
                    let message = format!("bad character range {text}");
                    return Err(self.error_at(&message, place));
                }
            }
        }
        Ok(self.add_class(Class::new(negated, folded, items)))
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
