//! Text as bytes and back: the encodings, and the handlers of characters that they lack.

use std::ops::Range;

use crate::cost;
use crate::heap::types::Type;
use crate::heap::value::Value;
use crate::run::Vm;
use crate::run::fault::{Fault, Outcome, shown};

#[derive(Clone, Copy, PartialEq)]
enum Encoding {
    Utf8,
    /// One byte for each character, up to this one.
    Single(u32),
    /// Bytes of a unit, whether the largest comes first, whether a mark says so.
    Units(usize, bool, bool),
}

fn known(name: &str) -> Option<Encoding> {
    Some(match name.to_ascii_lowercase().replace('_', "-").as_str() {
        "utf-8" | "utf8" => Encoding::Utf8,
        "ascii" | "us-ascii" => Encoding::Single(0x7f),
        "latin-1" | "latin1" | "iso-8859-1" => Encoding::Single(0xff),
        "utf-16" | "utf16" => Encoding::Units(2, false, true),
        "utf-16-le" | "utf-16le" => Encoding::Units(2, false, false),
        "utf-16-be" | "utf-16be" => Encoding::Units(2, true, false),
        "utf-32" | "utf32" => Encoding::Units(4, false, true),
        "utf-32-le" | "utf-32le" => Encoding::Units(4, false, false),
        "utf-32-be" | "utf-32be" => Encoding::Units(4, true, false),
        _ => return None,
    })
}

/// The encoding, and the name of the way with errors.
fn ways(vm: &mut Vm, encoding: Value, errors: Value) -> Result<(Encoding, String), Fault> {
    let given = |vm: &mut Vm, value: Value, else_: &str, what: &str| {
        if value.is_unbound() { Ok(else_.to_owned()) } else { vm.want_text(value, what) }
    };
    let name = given(vm, encoding, "utf-8", "encoding")?;
    let errors = given(vm, errors, "strict", "errors")?;
    match known(&name) {
        Some(encoding) => Ok((encoding, errors)),
        None => Err(vm.raise(Type::LookupError, format!("unknown encoding: {}", shown(&name)))),
    }
}

/// A character as a literal would write it.
fn escaped(char: char) -> String {
    match char as u32 {
        code @ 0..=0xff => format!("\\x{code:02x}"),
        code @ 0x100..=0xffff => format!("\\u{code:04x}"),
        code => format!("\\U{code:08x}"),
    }
}

pub(super) fn encode(
    vm: &mut Vm,
    text: String,
    encoding: Value,
    errors: Value,
) -> Result<Vec<u8>, Fault> {
    let (encoding, errors) = ways(vm, encoding, errors)?;
    vm.reserve(text.len())?;
    if !matches!(encoding, Encoding::Utf8) {
        vm.charge(cost::long(text.len()) * 8)?;
    }
    let most = match encoding {
        Encoding::Utf8 => return Ok(text.into_bytes()),
        Encoding::Units(size, big, mark) => {
            vm.reserve(text.len() * 4 + 4)?;
            let mark = if mark { "\u{feff}" } else { "" };
            return Ok(units(mark.chars().chain(text.chars()), size, big));
        }
        Encoding::Single(most) => most,
    };
    let mut bytes = Vec::with_capacity(text.len());
    for (place, char) in text.chars().enumerate() {
        let code = char as u32;
        if code <= most {
            bytes.push(code as u8);
            continue;
        }
        match errors.as_str() {
            "ignore" => {}
            "replace" => bytes.push(b'?'),
            "backslashreplace" | "xmlcharrefreplace" => {
                vm.charge(cost::bytes(64))?;
                let text = match errors.starts_with('x') {
                    true => format!("&#{code};"),
                    false => escaped(char),
                };
                bytes.extend(text.bytes());
                vm.heap.check(bytes.len())?;
            }
            "strict" => {
                // All that follow and cannot be told, either.
                let run = text.chars().skip(place).take_while(|char| *char as u32 > most).count();
                let what = match run {
                    1 => format!("character '{}' in position {place}", escaped(char)),
                    _ => format!("characters in position {place}-{}", place + run - 1),
                };
                let (name, range) = (if most == 0x7f { "ascii" } else { "latin-1" }, most + 1);
                let message =
                    format!("'{name}' codec can't encode {what}: ordinal not in range({range})");
                return Err(vm.raise(Type::UnicodeEncodeError, message));
            }
            other => return Err(unknown_way(vm, other)),
        }
    }
    Ok(bytes)
}

fn units(chars: impl Iterator<Item = char>, size: usize, big: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut buffer = [0u16; 2];
    for char in chars {
        if size == 4 {
            let code = char as u32;
            bytes.extend(if big { code.to_be_bytes() } else { code.to_le_bytes() });
            continue;
        }
        for unit in char.encode_utf16(&mut buffer) {
            bytes.extend(if big { unit.to_be_bytes() } else { unit.to_le_bytes() });
        }
    }
    bytes
}

pub(super) fn decode(vm: &mut Vm, bytes: Vec<u8>, encoding: Value, errors: Value) -> Outcome {
    let (encoding, errors) = ways(vm, encoding, errors)?;
    vm.reserve(bytes.len() * 3)?;
    if matches!(encoding, Encoding::Single(0xff) | Encoding::Units(..)) {
        vm.charge(cost::long(bytes.len()) * 8)?;
    }
    let text = match encoding {
        Encoding::Utf8 => match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => return decode_broken(vm, error.as_bytes(), &errors),
        },
        Encoding::Single(0xff) => bytes.iter().map(|byte| *byte as char).collect(),
        Encoding::Single(_) => return decode_ascii(vm, &bytes, &errors),
        Encoding::Units(size, big, mark) => {
            return decode_units(vm, &bytes, size, big, mark, &errors);
        }
    };
    vm.string(text)
}

/// What becomes of bytes that are wrong, by the way with errors.
fn mend(
    vm: &mut Vm,
    text: &mut String,
    (bytes, bad): (&[u8], Range<usize>),
    (codec, reason): (&str, &str),
    errors: &str,
) -> Result<(), Fault> {
    let wrong = &bytes[bad.clone()];
    match errors {
        "ignore" => {}
        "replace" => text.push('\u{fffd}'),
        "backslashreplace" => {
            vm.charge(cost::bytes(wrong.len() * 64))?;
            wrong.iter().for_each(|byte| text.push_str(&format!("\\x{byte:02x}")));
            vm.heap.check(text.len())?;
        }
        "strict" => {
            let what = match wrong {
                [byte] => format!("byte 0x{byte:02x} in position {}", bad.start),
                _ => format!("bytes in position {}-{}", bad.start, bad.end - 1),
            };
            let message = format!("'{codec}' codec can't decode {what}: {reason}");
            return Err(vm.raise(Type::UnicodeDecodeError, message));
        }
        "xmlcharrefreplace" => {
            let message = "don't know how to handle UnicodeDecodeError in error callback";
            return Err(vm.type_error(message));
        }
        other => return Err(unknown_way(vm, other)),
    }
    Ok(())
}

fn unknown_way(vm: &mut Vm, errors: &str) -> Fault {
    vm.raise(Type::LookupError, format!("unknown error handler name '{}'", shown(errors)))
}

fn decode_units(
    vm: &mut Vm,
    bytes: &[u8],
    size: usize,
    big: bool,
    mark: bool,
    errors: &str,
) -> Outcome {
    let marks: [&[u8]; 2] = match size {
        2 => [&[0xff, 0xfe], &[0xfe, 0xff]],
        _ => [&[0xff, 0xfe, 0, 0], &[0, 0, 0xfe, 0xff]],
    };
    let marked = marks.iter().position(|one| mark && bytes.starts_with(one));
    let big = big || marked == Some(1);
    let codec = format!("utf-{}-{}", size * 8, if big { "be" } else { "le" });
    let mut text = String::with_capacity(bytes.len());
    let mut at = if marked.is_some() { size } else { 0 };
    while at < bytes.len() {
        let (taken, read) = one_unit(&bytes[at..], size, big);
        match read {
            Ok(char) => text.push(char),
            Err(reason) => mend(vm, &mut text, (bytes, at..at + taken), (&codec, reason), errors)?,
        }
        at += taken;
    }
    vm.string(text)
}

/// The next character, or why there is none, and how many bytes that is about.
fn one_unit(rest: &[u8], size: usize, big: bool) -> (usize, Result<char, &'static str>) {
    let unit = |from: usize| {
        let bytes = rest.get(from..from + size)?;
        let join = |code: u32, byte: &u8| code << 8 | u32::from(*byte);
        Some(if big { bytes.iter().fold(0, join) } else { bytes.iter().rev().fold(0, join) })
    };
    let Some(first) = unit(0) else { return (rest.len(), Err("truncated data")) };
    match (first, size) {
        (0xd800..=0xdfff, 4) => {
            (4, Err("code point in surrogate code point range(0xd800, 0xe000)"))
        }
        (0xd800..=0xdbff, _) => match unit(2) {
            None => (rest.len(), Err("unexpected end of data")),
            Some(second @ 0xdc00..=0xdfff) => {
                let code = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                (4, char::from_u32(code).ok_or("illegal encoding"))
            }
            Some(_) => (2, Err("illegal UTF-16 surrogate")),
        },
        (0xdc00..=0xdfff, _) => (2, Err("illegal encoding")),
        _ => (size, char::from_u32(first).ok_or("code point not in range(0x110000)")),
    }
}

fn decode_ascii(vm: &mut Vm, bytes: &[u8], errors: &str) -> Outcome {
    vm.charge(cost::long(bytes.len()) * 8)?;
    let mut text = String::with_capacity(bytes.len());
    for (at, byte) in bytes.iter().enumerate() {
        if *byte < 0x80 {
            text.push(*byte as char);
            continue;
        }
        let why = ("ascii", "ordinal not in range(128)");
        mend(vm, &mut text, (bytes, at..at + 1), why, errors)?;
    }
    vm.string(text)
}

/// Bytes that are not all UTF-8.
fn decode_broken(vm: &mut Vm, bytes: &[u8], errors: &str) -> Outcome {
    if errors != "strict" {
        // Byte by byte, where they are wrong.
        vm.charge(cost::long(bytes.len()) * 12)?;
    }
    let mut text = String::with_capacity(bytes.len());
    let mut at = 0;
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        at += chunk.valid().len();
        let bad = chunk.invalid();
        let Some(first) = bad.first() else { continue };
        let reason = match first {
            0xc2..=0xf4 if at + bad.len() == bytes.len() && !complete(bad) => {
                "unexpected end of data"
            }
            0xc2..=0xf4 => "invalid continuation byte",
            _ => "invalid start byte",
        };
        mend(vm, &mut text, (bytes, at..at + bad.len()), ("utf-8", reason), errors)?;
        at += bad.len();
    }
    vm.string(text)
}

/// Whether a sequence at the end has as many bytes as its first one says.
fn complete(bad: &[u8]) -> bool {
    match std::str::from_utf8(bad) {
        Err(error) => error.error_len().is_some(),
        Ok(_) => true,
    }
}
