//! str: padding, and questions about all characters.

use crate::cost;
use crate::heap::value::Value;
use crate::run::Vm;
use crate::run::fault::{Fault, Outcome};
use crate::run::native::{Args, Table};
use crate::unicode;

use super::str::{is_space, this};

pub(crate) const TABLE: Table = &[
    ("str", "ljust", ljust, ""),
    ("str", "rjust", rjust, ""),
    ("str", "center", center, ""),
    ("str", "zfill", zfill, ""),
    ("str", "isdigit", isdigit, ""),
    ("str", "isdecimal", isdecimal, ""),
    ("str", "isnumeric", isnumeric, ""),
    ("str", "isalpha", isalpha, ""),
    ("str", "isalnum", isalnum, ""),
    ("str", "isspace", isspace, ""),
    ("str", "isupper", isupper, ""),
    ("str", "islower", islower, ""),
    ("str", "istitle", istitle, ""),
    ("str", "isidentifier", isidentifier, ""),
    ("str", "isascii", isascii, ""),
    ("str", "isprintable", isprintable, ""),
    ("str", "expandtabs", expandtabs, ""),
];

/// Padding to a width: how much of it goes left.
fn pad(vm: &mut Vm, args: Args, word: &str, left: impl Fn(usize, usize) -> usize) -> Outcome {
    let [text, width, fill] = vm.take(args, word, ["self", "width", "fillchar"], 2)?;
    let text = this(vm, text)?;
    let width = usize::try_from(vm.want_int(width)?).unwrap_or(0);
    let fill =
        if fill.is_unbound() { " ".to_owned() } else { vm.want_text(fill, "fill character")? };
    if fill.chars().count() != 1 {
        return Err(vm.type_error("The fill character must be exactly one character long"));
    }
    let missing = width.saturating_sub(text.chars().count());
    vm.reserve(missing.saturating_mul(fill.len()).saturating_add(text.len()))?;
    let before = left(missing, width);
    let out = fill.repeat(before) + &text + &fill.repeat(missing - before);
    vm.string(out)
}

fn ljust(vm: &mut Vm, args: Args) -> Outcome {
    pad(vm, args, "ljust", |_, _| 0)
}

fn rjust(vm: &mut Vm, args: Args) -> Outcome {
    pad(vm, args, "rjust", |missing, _| missing)
}

fn center(vm: &mut Vm, args: Args) -> Outcome {
    // An odd rest goes left if the width is odd, too.
    pad(vm, args, "center", |missing, width| missing / 2 + (missing & width & 1))
}

fn zfill(vm: &mut Vm, args: Args) -> Outcome {
    let [text, width] = vm.take(args, "zfill", ["self", "width"], 2)?;
    let text = this(vm, text)?;
    let width = usize::try_from(vm.want_int(width)?).unwrap_or(0);
    let missing = width.saturating_sub(text.chars().count());
    vm.reserve(missing + text.len())?;
    let (sign, rest) = match text.chars().next() {
        Some(sign @ ('+' | '-')) => (sign.to_string(), &text[1..]),
        _ => (String::new(), text.as_str()),
    };
    let out = sign + &"0".repeat(missing) + rest;
    vm.string(out)
}

/// The receiver's text, of which each character is looked up in tables if it is beyond ASCII.
fn looked_up(vm: &mut Vm, text: Value) -> Result<String, Fault> {
    let text = this(vm, text)?;
    if !text.is_ascii() {
        vm.charge(cost::long(text.len()) * 8)?;
    }
    Ok(text)
}

fn every(vm: &mut Vm, args: Args, word: &str, test: impl Fn(char) -> bool) -> Outcome {
    let [text] = vm.take(args, word, ["self"], 1)?;
    let text = looked_up(vm, text)?;
    Ok(Value::Bool(!text.is_empty() && text.chars().all(test)))
}

fn isdecimal(vm: &mut Vm, args: Args) -> Outcome {
    every(vm, args, "isdecimal", crate::regex::is_digit)
}

/// Decimal digits, and those written high or low.
fn isdigit(vm: &mut Vm, args: Args) -> Outcome {
    every(vm, args, "isdigit", |char| {
        let raised = matches!(char, '²' | '³' | '¹' | '⁰' | '⁴'..='⁹' | '₀'..='₉');
        raised || crate::regex::is_digit(char)
    })
}

fn isnumeric(vm: &mut Vm, args: Args) -> Outcome {
    every(vm, args, "isnumeric", unicode::is_numeric)
}

fn isalpha(vm: &mut Vm, args: Args) -> Outcome {
    every(vm, args, "isalpha", unicode::is_alphabetic)
}

fn isalnum(vm: &mut Vm, args: Args) -> Outcome {
    every(vm, args, "isalnum", unicode::is_alphanumeric)
}

fn isspace(vm: &mut Vm, args: Args) -> Outcome {
    every(vm, args, "isspace", is_space)
}

fn isascii(vm: &mut Vm, args: Args) -> Outcome {
    let [text] = vm.take(args, "isascii", ["self"], 1)?;
    Ok(Value::Bool(this(vm, text)?.is_ascii()))
}

fn isprintable(vm: &mut Vm, args: Args) -> Outcome {
    let [text] = vm.take(args, "isprintable", ["self"], 1)?;
    Ok(Value::Bool(looked_up(vm, text)?.chars().all(crate::run::repr::is_printable)))
}

fn cased(
    vm: &mut Vm,
    args: Args,
    good: impl Fn(char) -> bool,
    bad: impl Fn(char) -> bool,
) -> Outcome {
    let [text] = vm.take(args, "isupper", ["self"], 1)?;
    let text = looked_up(vm, text)?;
    Ok(Value::Bool(text.chars().any(good) && !text.chars().any(bad)))
}

fn isupper(vm: &mut Vm, args: Args) -> Outcome {
    cased(vm, args, unicode::is_uppercase, unicode::is_lowercase)
}

fn islower(vm: &mut Vm, args: Args) -> Outcome {
    cased(vm, args, unicode::is_lowercase, unicode::is_uppercase)
}

fn istitle(vm: &mut Vm, args: Args) -> Outcome {
    let [text] = vm.take(args, "istitle", ["self"], 1)?;
    let text = looked_up(vm, text)?;
    let (mut inside, mut seen, mut good) = (false, false, true);
    for char in text.chars() {
        if unicode::is_uppercase(char) {
            good &= !inside;
            seen = true;
        } else if unicode::is_lowercase(char) {
            good &= inside;
            seen = true;
        }
        inside = unicode::is_alphabetic(char);
    }
    Ok(Value::Bool(good && seen))
}

fn isidentifier(vm: &mut Vm, args: Args) -> Outcome {
    let [text] = vm.take(args, "isidentifier", ["self"], 1)?;
    let text = looked_up(vm, text)?;
    let mut chars = text.chars();
    let first = chars.next().is_some_and(|char| char == '_' || unicode::is_alphabetic(char));
    Ok(Value::Bool(first && chars.all(|char| char == '_' || unicode::is_alphanumeric(char))))
}

fn expandtabs(vm: &mut Vm, args: Args) -> Outcome {
    let [text, size] = vm.take(args, "expandtabs", ["self", "tabsize"], 1)?;
    let text = this(vm, text)?;
    let size = if size.is_unbound() { 8 } else { vm.want_int(size)?.clamp(0, 1 << 16) as usize };
    let tabs = text.bytes().filter(|byte| *byte == b'\t').count();
    vm.reserve(text.len() + tabs * size)?;
    vm.charge(cost::many(tabs) * 4 + cost::long(text.len()) * 4)?;
    let mut out = String::new();
    let mut column = 0;
    for char in text.chars() {
        match char {
            '\t' if size > 0 => {
                let step = size - column % size;
                out.extend(std::iter::repeat_n(' ', step));
                column += step;
            }
            '\t' => {}
            '\n' | '\r' => {
                out.push(char);
                column = 0;
            }
            other => {
                out.push(other);
                column += 1;
            }
        }
    }
    vm.string(out)
}
