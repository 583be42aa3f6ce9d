//! Text as bytes and back: the encodings that every machine has, and what becomes of what they lack.

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

/// The encoding, its name as it was given, and the name of the way with errors.
fn ways(vm: &mut Vm, encoding: Value, errors: Value) -> Result<(Encoding, String, String), Fault> {
    let given = |vm: &mut Vm, value: Value, else_: &str, what: &str| {
        if value.is_unbound() { Ok(else_.to_owned()) } else { vm.want_text(value, what) }
    };
    let name = given(vm, encoding, "utf-8", "encoding")?;
    let errors = given(vm, errors, "strict", "errors")?;
    match known(&name) {
        Some(encoding) => Ok((encoding, name, errors)),
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
    let (encoding, _, errors) = ways(vm, encoding, errors)?;
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
            _ => {
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
    let (encoding, name, errors) = ways(vm, encoding, errors)?;
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
        Encoding::Units(size, big, mark) => match from_units(&bytes, size, big, mark) {
            Some(text) => text,
            None if errors != "strict" => String::new(),
            None => {
                let message = format!("'{name}' codec can't decode these bytes");
                return Err(vm.raise(Type::UnicodeDecodeError, message));
            }
        },
    };
    vm.string(text)
}

fn from_units(bytes: &[u8], size: usize, big: bool, mark: bool) -> Option<String> {
    let swapped: &[u8] = if size == 2 { &[0xfe, 0xff] } else { &[0, 0, 0xfe, 0xff] };
    let big = big || mark && bytes.starts_with(swapped);
    if !bytes.len().is_multiple_of(size) {
        return None;
    }
    let wide = bytes.chunks(size).map(|unit| {
        let join = |code: u32, byte: &u8| code << 8 | u32::from(*byte);
        if big { unit.iter().fold(0, join) } else { unit.iter().rev().fold(0, join) }
    });
    let text: Option<String> = match size {
        4 => wide.map(char::from_u32).collect(),
        _ => char::decode_utf16(wide.map(|unit| unit as u16)).map(Result::ok).collect(),
    };
    let text = text?;
    match text.strip_prefix('\u{feff}') {
        Some(rest) if mark => Some(rest.to_owned()),
        _ => Some(text),
    }
}

fn decode_ascii(vm: &mut Vm, bytes: &[u8], errors: &str) -> Outcome {
    vm.charge(cost::long(bytes.len()) * 8)?;
    let mut text = String::with_capacity(bytes.len());
    for (at, byte) in bytes.iter().enumerate() {
        match errors {
            _ if *byte < 0x80 => text.push(*byte as char),
            "ignore" => {}
            "replace" => text.push('\u{fffd}'),
            "backslashreplace" => {
                vm.charge(cost::bytes(64))?;
                text.push_str(&format!("\\x{byte:02x}"));
            }
            _ => {
                let message = format!(
                    "'ascii' codec can't decode byte 0x{byte:02x} in position {at}: ordinal not in range(128)"
                );
                return Err(vm.raise(Type::UnicodeDecodeError, message));
            }
        }
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
        let (Some(first), false) = (bad.first(), bad.is_empty()) else { continue };
        match errors {
            "ignore" => {}
            "replace" => text.push('\u{fffd}'),
            "backslashreplace" => {
                vm.charge(cost::bytes(bad.len() * 64))?;
                for byte in bad {
                    text.push_str(&format!("\\x{byte:02x}"));
                }
            }
            _ => {
                let reason = match first {
                    0xc2..=0xf4 if at + bad.len() == bytes.len() && !complete(bad) => {
                        "unexpected end of data"
                    }
                    0xc2..=0xf4 => "invalid continuation byte",
                    _ => "invalid start byte",
                };
                let what = match bad.len() {
                    1 => format!("byte 0x{first:02x} in position {at}"),
                    length => format!("bytes in position {at}-{}", at + length - 1),
                };
                let message = format!("'utf-8' codec can't decode {what}: {reason}");
                return Err(vm.raise(Type::UnicodeDecodeError, message));
            }
        }
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
