//! Bytes to values. What is claimed about lengths is held against the bytes that are left before
//! anything is made.

use num_bigint::{BigInt, Sign};

use super::{BIG_BYTES_MAX, CborError, DEPTH_MAX, major};

/// Room that is made for items before they are there: lists inside each other can each claim all the
/// bytes that are left.
const ROOM: usize = 64;

/// Which forms of a value are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// What `encode` writes.
    Canonical,
    /// Longer integers and lengths, shorter floats, keys in any order with the last one winning, and
    /// tags, which are dropped: what programs get from elsewhere.
    Any,
}

/// Makes the values that are read.
pub(crate) trait Sink {
    type Item;
    type Fault: From<CborError>;
    /// Before a value of this many bytes is made.
    fn pay(&mut self, bytes: usize) -> Result<(), Self::Fault>;
    fn none(&mut self) -> Self::Item;
    fn truth(&mut self, truth: bool) -> Self::Item;
    fn float(&mut self, float: f64) -> Self::Item;
    fn int(&mut self, int: i128) -> Result<Self::Item, Self::Fault>;
    fn big(&mut self, big: BigInt) -> Result<Self::Item, Self::Fault>;
    fn text(&mut self, text: &str) -> Result<Self::Item, Self::Fault>;
    fn bytes(&mut self, bytes: &[u8]) -> Result<Self::Item, Self::Fault>;
    fn list(&mut self, items: Vec<Self::Item>) -> Result<Self::Item, Self::Fault>;
    fn map(&mut self, pairs: Vec<(Self::Item, Self::Item)>) -> Result<Self::Item, Self::Fault>;
}

/// The one value that the bytes hold.
pub(crate) fn read<S: Sink>(bytes: &[u8], form: Form, sink: &mut S) -> Result<S::Item, S::Fault> {
    let mut reader = Reader { bytes, at: 0, form };
    let value = reader.value(sink, 0)?;
    if reader.at != bytes.len() {
        return Err(CborError::Trailing.into());
    }
    Ok(value)
}

/// A text of a map, if the bytes hold a map in canonical form with a text under this name. Nothing else
/// is made of them: it takes as long as they are, whatever they hold.
pub(crate) fn text_under<'a>(bytes: &'a [u8], name: &str) -> Option<&'a str> {
    if bytes.first()? >> 5 != major::MAP {
        return None;
    }
    read(bytes, Form::Canonical, &mut Nothing).ok()?;
    let mut wanted = Vec::with_capacity(name.len() + 9);
    super::put_text(&mut wanted, name);
    let mut reader = Reader { bytes, at: 0, form: Form::Canonical };
    for _ in 0..reader.head().ok()?.argument {
        let start = reader.at;
        reader.value(&mut Nothing, 1).ok()?;
        if bytes[start..reader.at] == wanted {
            let head = reader.head().ok().filter(|head| head.major == major::TEXT)?;
            return std::str::from_utf8(reader.take(head.argument).ok()?).ok();
        }
        reader.value(&mut Nothing, 1).ok()?;
    }
    None
}

/// Makes nothing: lists of it take no memory.
struct Nothing;

impl Sink for Nothing {
    type Item = ();
    type Fault = CborError;

    fn pay(&mut self, _: usize) -> Result<(), CborError> {
        Ok(())
    }
    fn none(&mut self) {}
    fn truth(&mut self, _: bool) {}
    fn float(&mut self, _: f64) {}
    fn int(&mut self, _: i128) -> Result<(), CborError> {
        Ok(())
    }
    fn big(&mut self, _: BigInt) -> Result<(), CborError> {
        Ok(())
    }
    fn text(&mut self, _: &str) -> Result<(), CborError> {
        Ok(())
    }
    fn bytes(&mut self, _: &[u8]) -> Result<(), CborError> {
        Ok(())
    }
    fn list(&mut self, _: Vec<()>) -> Result<(), CborError> {
        Ok(())
    }
    fn map(&mut self, _: Vec<((), ())>) -> Result<(), CborError> {
        Ok(())
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    form: Form,
}

/// What stands before a value.
struct Head {
    major: u8,
    /// The low bits of the first byte.
    info: u8,
    argument: u64,
}

impl<'a> Reader<'a> {
    fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    fn take(&mut self, count: u64) -> Result<&'a [u8], CborError> {
        let count = usize::try_from(count).map_err(|_| CborError::Truncated)?;
        if count > self.left() {
            return Err(CborError::Truncated);
        }
        let taken = &self.bytes[self.at..self.at + count];
        self.at += count;
        Ok(taken)
    }

    fn head(&mut self) -> Result<Head, CborError> {
        let first = self.take(1)?[0];
        let (major, info) = (first >> 5, first & 31);
        let (size, least) = match info {
            0..=23 => return Ok(Head { major, info, argument: u64::from(info) }),
            24 => (1, 24),
            25 => (2, 1 << 8),
            26 => (4, 1 << 16),
            27 => (8, 1 << 32),
            31 => return Err(CborError::Indefinite),
            _ => return Err(CborError::Unsupported),
        };
        let argument =
            self.take(size)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
        if self.form == Form::Canonical && major != major::SIMPLE && argument < least {
            return Err(CborError::Form);
        }
        Ok(Head { major, info, argument })
    }

    fn value<S: Sink>(&mut self, sink: &mut S, depth: usize) -> Result<S::Item, S::Fault> {
        if depth > DEPTH_MAX {
            return Err(CborError::Depth.into());
        }
        let head = self.head()?;
        match head.major {
            major::UNSIGNED => sink.int(i128::from(head.argument)),
            major::NEGATIVE => sink.int(-1 - i128::from(head.argument)),
            major::BYTES => {
                let bytes = self.take(head.argument)?;
                sink.pay(bytes.len())?;
                sink.bytes(bytes)
            }
            major::TEXT => {
                let bytes = self.take(head.argument)?;
                sink.pay(bytes.len())?;
                sink.text(std::str::from_utf8(bytes).map_err(|_| CborError::Text)?)
            }
            major::LIST => {
                let count = self.count(head.argument, 1)?;
                sink.pay(count * 16)?;
                let mut items = Vec::with_capacity(count.min(ROOM));
                for _ in 0..count {
                    items.push(self.value(sink, depth + 1)?);
                }
                sink.list(items)
            }
            major::MAP => self.map(sink, head.argument, depth),
            major::TAG => self.tagged(sink, head.argument, depth),
            _ => Ok(self.simple(sink, &head)?),
        }
    }

    /// A number of items, each of this many bytes at least.
    fn count(&self, claimed: u64, each: u64) -> Result<usize, CborError> {
        match claimed.checked_mul(each) {
            Some(bytes) if bytes <= self.left() as u64 => Ok(claimed as usize),
            _ => Err(CborError::Truncated),
        }
    }

    fn map<S: Sink>(
        &mut self,
        sink: &mut S,
        claimed: u64,
        depth: usize,
    ) -> Result<S::Item, S::Fault> {
        let count = self.count(claimed, 2)?;
        sink.pay(count * 32)?;
        let mut pairs = Vec::with_capacity(count.min(ROOM));
        let mut before: Option<&[u8]> = None;
        for _ in 0..count {
            let start = self.at;
            if self.bytes.get(start).is_some_and(|first| matches!(first >> 5, 4 | 5)) {
                return Err(CborError::Key.into());
            }
            let key = self.value(sink, depth + 1)?;
            let bytes = &self.bytes[start..self.at];
            if let Some(before) = before.filter(|_| self.form == Form::Canonical) {
                match (before.len(), before).cmp(&(bytes.len(), bytes)) {
                    std::cmp::Ordering::Less => {}
                    std::cmp::Ordering::Equal => return Err(CborError::Duplicate.into()),
                    std::cmp::Ordering::Greater => return Err(CborError::Form.into()),
                }
            }
            before = Some(bytes);
            pairs.push((key, self.value(sink, depth + 1)?));
        }
        sink.map(pairs)
    }

    /// Tags 2 and 3 are integers.
    fn tagged<S: Sink>(
        &mut self,
        sink: &mut S,
        tag: u64,
        depth: usize,
    ) -> Result<S::Item, S::Fault> {
        let canonical = self.form == Form::Canonical;
        if !matches!(tag, 2 | 3) {
            if canonical {
                return Err(CborError::Unsupported.into());
            }
            return self.value(sink, depth + 1);
        }
        let head = self.head()?;
        if head.major != major::BYTES {
            return Err(CborError::Unsupported.into());
        }
        let magnitude = self.take(head.argument)?;
        if canonical && (magnitude.len() <= 8 || magnitude[0] == 0) {
            return Err(CborError::Form.into());
        }
        if magnitude.len() > BIG_BYTES_MAX {
            return Err(CborError::Number.into());
        }
        sink.pay(magnitude.len())?;
        let big = BigInt::from_bytes_be(Sign::Plus, magnitude);
        let big = if tag == 3 { -(big + 1_i32) } else { big };
        match i128::try_from(&big) {
            Ok(small) if magnitude.len() <= 8 => sink.int(small),
            _ => sink.big(big),
        }
    }

    fn simple<S: Sink>(&mut self, sink: &mut S, head: &Head) -> Result<S::Item, CborError> {
        let canonical = self.form == Form::Canonical;
        let float = match head.info {
            20 | 21 => return Ok(sink.truth(head.info == 21)),
            22 => return Ok(sink.none()),
            // "Undefined" is nothing as well.
            23 if !canonical => return Ok(sink.none()),
            25 => half(head.argument as u16),
            26 => f64::from(f32::from_bits(head.argument as u32)),
            27 => f64::from_bits(head.argument),
            _ => return Err(CborError::Unsupported),
        };
        let short = head.info != 27;
        let odd = float.is_nan() && head.argument != 0x7ff8_0000_0000_0000;
        if canonical && (short || odd) {
            return Err(CborError::Form);
        }
        Ok(sink.float(if float.is_nan() { f64::NAN } else { float }))
    }
}

/// A float of 16 bits.
fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let exponent = i32::from(bits >> 10 & 31);
    let fraction = f64::from(bits & 1023);
    // Powers of two that a double holds exactly.
    let scale = |power: i32| f64::from_bits(((1023 + power) as u64) << 52);
    sign * match exponent {
        0 => fraction * scale(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * scale(exponent - 25),
    }
}
