//! What counts as an acceptable JSON document, and when two of them are equal (SPEC §1).
//!
//! Text is RFC 8259, read strictly; numbers are exact decimals, so that `1`, `1.0` and `1e0` are
//! one value and 2^53 differs from 2^53 + 1. Strings are compared by code points, without
//! normalisation.

use std::{collections::BTreeMap, fmt};
use thiserror::Error;

/// Levels of arrays and objects that a document may have. It bounds every recursion over a
/// document.
pub const MAX_DEPTH: usize = 64;

/// Nano units in one.
const NANO: i128 = 1_000_000_000;
/// 10^20 in nano units: the largest magnitude of a number.
const MAX_NANOS: i128 = 100_000_000_000_000_000_000 * NANO;
/// Decimal digits of `MAX_NANOS`. A number with more of them is refused before it is computed.
const MAX_NANOS_DIGITS: i128 = 30;

/// An exact decimal: a whole number of nano units, at most 10^20 in magnitude.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Decimal(i128);

/// Why a text is no number of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum DecimalError {
    /// Not a plain decimal such as `-0.25`.
    #[error(
        "not a plain decimal: write an optional minus, digits, and an optional point with digits"
    )]
    Malformed,
    /// Above 10^20 in magnitude.
    #[error("the number is outside of ±10^20")]
    TooLarge,
    /// Not a multiple of 10^−9.
    #[error("the number is not a multiple of 10^-9")]
    TooFine,
}

impl Decimal {
    /// The decimal of this many nano units, if it is within ±10^20.
    pub fn from_nanos(nanos: i128) -> Option<Self> {
        (-MAX_NANOS..=MAX_NANOS).contains(&nanos).then_some(Self(nanos))
    }

    /// The value in nano units.
    pub fn nanos(self) -> i128 {
        self.0
    }

    /// Whether there is no fraction.
    pub fn is_integer(self) -> bool {
        self.0 % NANO == 0
    }

    /// The value as an unsigned integer, if it is one.
    pub fn to_unsigned(self) -> Option<u128> {
        self.is_integer().then(|| u128::try_from(self.0 / NANO).ok())?
    }

    /// Reads the decimal string of a check: a JSON number without exponent.
    pub fn parse_plain(text: &str) -> Result<Self, DecimalError> {
        match Literal::read(text.as_bytes()) {
            Some((literal, [])) if literal.exponent.is_none() => literal.value(),
            _ => Err(DecimalError::Malformed),
        }
    }
}

impl fmt::Display for Decimal {
    /// The shortest plain decimal: no exponent, no trailing zeros, no minus before zero.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let (whole, fraction) = (self.0.abs() / NANO, self.0.abs() % NANO);
        if fraction == 0 {
            return write!(f, "{sign}{whole}");
        }
        let digits = format!("{fraction:09}");
        write!(f, "{sign}{whole}.{}", digits.trim_end_matches('0'))
    }
}

/// A number as it is written, in JSON's grammar.
struct Literal<'a> {
    negative: bool,
    whole: &'a [u8],
    fraction: &'a [u8],
    /// Held at ±i64::MAX: far more than the digits of any text could make up for.
    exponent: Option<i64>,
}

impl<'a> Literal<'a> {
    /// Reads a literal at the start of `text` and returns what follows it.
    fn read(text: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let unsigned = text.strip_prefix(b"-");
        let negative = unsigned.is_some();
        let (whole, mut rest) = digits(unsigned.unwrap_or(text))?;
        if whole.len() > 1 && whole.starts_with(b"0") {
            return None;
        }
        let mut fraction: &[u8] = &[];
        if let Some(after_point) = rest.strip_prefix(b".") {
            (fraction, rest) = digits(after_point)?;
        }
        let mut exponent = None;
        if let [b'e' | b'E', after_e @ ..] = rest {
            let (value, after_exponent) = read_exponent(after_e)?;
            (exponent, rest) = (Some(value), after_exponent);
        }
        let literal = Self { negative, whole, fraction, exponent };
        Some((literal, rest))
    }

    fn digits(&self) -> impl DoubleEndedIterator<Item = i128> {
        self.whole.iter().chain(self.fraction).map(|digit| i128::from(digit - b'0'))
    }

    /// The value. Limits are checked on the count of digits first, so that no exponent costs time
    /// or memory.
    fn value(&self) -> Result<Decimal, DecimalError> {
        let total = self.whole.len() + self.fraction.len();
        let leading = self.digits().take_while(|digit| *digit == 0).count();
        if leading == total {
            return Ok(Decimal(0));
        }
        let trailing = self.digits().rev().take_while(|digit| *digit == 0).count();
        let significant = total - leading - trailing;
        // The significant digits end in no 0, so a negative power of ten leaves a fraction of a
        // nano unit.
        let power = i128::from(self.exponent.unwrap_or(0)) + 9 + trailing as i128
            - self.fraction.len() as i128;
        if power < 0 {
            return Err(DecimalError::TooFine);
        }
        if significant as i128 + power > MAX_NANOS_DIGITS {
            return Err(DecimalError::TooLarge);
        }
        let mantissa =
            self.digits().skip(leading).take(significant).fold(0, |sum, digit| sum * 10 + digit);
        let magnitude = mantissa * 10_i128.pow(power as u32);
        Decimal::from_nanos(if self.negative { -magnitude } else { magnitude })
            .ok_or(DecimalError::TooLarge)
    }
}

/// Splits off the digits at the start of `text`; there must be one.
fn digits(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let count = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (count > 0).then(|| text.split_at(count))
}

fn read_exponent(text: &[u8]) -> Option<(i64, &[u8])> {
    let (sign, unsigned) = match text {
        [b'-', rest @ ..] => (-1, rest),
        [b'+', rest @ ..] => (1, rest),
        _ => (1, text),
    };
    let (digits, rest) = digits(unsigned)?;
    let magnitude = digits
        .iter()
        .fold(0_i64, |sum, digit| sum.saturating_mul(10).saturating_add(i64::from(digit - b'0')));
    Some((sign * magnitude, rest))
}

/// A JSON value. Equality is that of the protocol; the order is total but means nothing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Json {
    /// `null`, which is a value and not a missing field.
    Null,
    Bool(bool),
    Number(Decimal),
    String(String),
    Array(Vec<Json>),
    Object(BTreeMap<String, Json>),
}

impl Json {
    /// The text of RFC 8785, with numbers as plain decimals.
    pub fn canonical(&self) -> String {
        let mut text = String::new();
        self.write(&mut text);
        text
    }

    fn write(&self, out: &mut String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Self::Number(value) => out.push_str(&value.to_string()),
            Self::String(value) => write_string(value, out),
            Self::Array(items) => write_list(out, ['[', ']'], items, |item, out| item.write(out)),
            Self::Object(members) => {
                let mut members: Vec<_> = members.iter().collect();
                // RFC 8785 orders by UTF-16 units, which is not the order of code points that the
                // map keeps.
                members.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
                write_list(out, ['{', '}'], members, |(name, value), out| {
                    write_string(name, out);
                    out.push(':');
                    value.write(out);
                });
            }
        }
    }
}

fn write_list<T>(
    out: &mut String,
    [open, close]: [char; 2],
    items: impl IntoIterator<Item = T>,
    write: impl Fn(T, &mut String),
) {
    out.push(open);
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write(item, out);
    }
    out.push(close);
}

fn write_string(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\u{c}' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            control if control < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(control))),
            other => out.push(other),
        }
    }
    out.push('"');
}

/// Why bytes are no acceptable JSON document. Positions are byte offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum JsonError {
    #[error("the text is not UTF-8")]
    NotUtf8,
    /// Not RFC 8259; a byte order mark and text after the value count as this too.
    #[error("no JSON at byte {0}")]
    Syntax(usize),
    /// Arrays and objects nested deeper than `MAX_DEPTH`.
    #[error("more than {MAX_DEPTH} levels at byte {0}")]
    TooDeep(usize),
    /// A member that is named twice, after unescaping.
    #[error("a name used before, ending at byte {0}")]
    DuplicateName(usize),
    /// An escaped surrogate without its other half.
    #[error("a lone surrogate before byte {0}")]
    LoneSurrogate(usize),
    /// A number beyond the limits of `Decimal`.
    #[error("at byte {at}: {source}")]
    Number { at: usize, source: DecimalError },
}

/// Reads one document, the whole of `bytes`.
pub fn parse(bytes: &[u8]) -> Result<Json, JsonError> {
    let text = std::str::from_utf8(bytes).map_err(|_| JsonError::NotUtf8)?;
    let mut parser = Parser { text, at: 0 };
    parser.skip_space();
    let document = parser.value(0)?;
    parser.skip_space();
    if parser.at == text.len() { Ok(document) } else { Err(JsonError::Syntax(parser.at)) }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    /// Steps over `token` if it is next.
    fn take(&mut self, token: &[u8]) -> bool {
        let found = self.rest().starts_with(token);
        self.at += if found { token.len() } else { 0 };
        found
    }

    fn expect(&mut self, token: &[u8]) -> Result<(), JsonError> {
        if self.take(token) { Ok(()) } else { Err(JsonError::Syntax(self.at)) }
    }

    fn skip_space(&mut self) {
        let is_space = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        self.at += self.rest().iter().take_while(is_space).count();
    }

    /// Reads a value that lies inside `depth` arrays and objects.
    fn value(&mut self, depth: usize) -> Result<Json, JsonError> {
        match self.rest().first() {
            Some(b'[' | b'{') if depth == MAX_DEPTH => Err(JsonError::TooDeep(self.at)),
            Some(b'[') => self.array(depth + 1),
            Some(b'{') => self.object(depth + 1),
            Some(b'"') => self.string().map(Json::String),
            Some(b't') => self.expect(b"true").map(|()| Json::Bool(true)),
            Some(b'f') => self.expect(b"false").map(|()| Json::Bool(false)),
            Some(b'n') => self.expect(b"null").map(|()| Json::Null),
            _ => self.number().map(Json::Number),
        }
    }

    fn number(&mut self) -> Result<Decimal, JsonError> {
        let at = self.at;
        let (literal, rest) = Literal::read(self.rest()).ok_or(JsonError::Syntax(at))?;
        self.at = self.text.len() - rest.len();
        literal.value().map_err(|source| JsonError::Number { at, source })
    }

    fn array(&mut self, depth: usize) -> Result<Json, JsonError> {
        let mut items = Vec::new();
        self.list([b"[", b"]"], |parser| {
            items.push(parser.value(depth)?);
            Ok(())
        })?;
        Ok(Json::Array(items))
    }

    fn object(&mut self, depth: usize) -> Result<Json, JsonError> {
        let mut members = BTreeMap::new();
        self.list([b"{", b"}"], |parser| {
            let name = parser.string()?;
            if members.contains_key(&name) {
                return Err(JsonError::DuplicateName(parser.at));
            }
            parser.skip_space();
            parser.expect(b":")?;
            parser.skip_space();
            members.insert(name, parser.value(depth)?);
            Ok(())
        })?;
        Ok(Json::Object(members))
    }

    /// Reads what stands between two brackets, separated by commas.
    fn list(
        &mut self,
        [open, close]: [&[u8]; 2],
        mut element: impl FnMut(&mut Self) -> Result<(), JsonError>,
    ) -> Result<(), JsonError> {
        self.expect(open)?;
        self.skip_space();
        if self.take(close) {
            return Ok(());
        }
        loop {
            element(self)?;
            self.skip_space();
            if self.take(close) {
                return Ok(());
            }
            self.expect(b",")?;
            self.skip_space();
        }
    }

    fn string(&mut self) -> Result<String, JsonError> {
        self.expect(b"\"")?;
        let mut text = String::new();
        loop {
            let is_plain = |byte: &&u8| !matches!(byte, b'"' | b'\\' | 0..b' ');
            let plain = self.rest().iter().take_while(is_plain).count();
            // The run ends before an ASCII byte or at the end of the text, so never inside of a
            // character.
            text.push_str(self.text.get(self.at..self.at + plain).unwrap_or_default());
            self.at += plain;
            if self.take(b"\"") {
                return Ok(text);
            }
            self.expect(b"\\")?;
            text.push(self.escape()?);
        }
    }

    /// Reads what follows a backslash.
    fn escape(&mut self) -> Result<char, JsonError> {
        let Some(letter) = self.rest().first() else {
            return Err(JsonError::Syntax(self.at));
        };
        let character = match letter {
            b'"' | b'\\' | b'/' => char::from(*letter),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode_escape(),
            _ => return Err(JsonError::Syntax(self.at)),
        };
        self.at += 1;
        Ok(character)
    }

    /// Reads `uXXXX`, and the second half of a surrogate pair if this is the first.
    fn unicode_escape(&mut self) -> Result<char, JsonError> {
        let first = self.utf16_unit()?;
        let needs_second = (0xd800..0xdc00).contains(&first);
        let second = if needs_second && self.take(b"\\") { Some(self.utf16_unit()?) } else { None };
        let mut characters = char::decode_utf16([first].into_iter().chain(second));
        match (characters.next(), characters.next()) {
            (Some(Ok(character)), None) => Ok(character),
            _ => Err(JsonError::LoneSurrogate(self.at)),
        }
    }

    fn utf16_unit(&mut self) -> Result<u16, JsonError> {
        self.expect(b"u")?;
        let mut unit = 0;
        for _ in 0..4 {
            let digit = self.rest().first().and_then(|byte| char::from(*byte).to_digit(16));
            unit = unit << 4 | digit.ok_or(JsonError::Syntax(self.at))? as u16;
            self.at += 1;
        }
        Ok(unit)
    }
}

#[cfg(test)]
mod tests;
