//! str.

use crate::cost;
use crate::heap::object::Obj;
use crate::heap::value::Value;
use crate::run::Vm;
use crate::run::fault::{Fault, Outcome};
use crate::run::native::{Args, Table};

pub(crate) const TABLE: Table = &[
    ("str", "__new__", new, "_str_new"),
    ("str", "upper", upper, ""),
    ("str", "lower", lower, ""),
    ("str", "casefold", lower, ""),
    ("str", "capitalize", capitalize, ""),
    ("str", "title", title, ""),
    ("str", "swapcase", swapcase, ""),
    ("str", "strip", strip, ""),
    ("str", "lstrip", lstrip, ""),
    ("str", "rstrip", rstrip, ""),
    ("str", "split", split, ""),
    ("str", "rsplit", rsplit, ""),
    ("str", "splitlines", splitlines, ""),
    ("str", "partition", partition, ""),
    ("str", "rpartition", rpartition, ""),
    ("str", "join", join, ""),
    ("str", "replace", replace, ""),
    ("str", "find", find, ""),
    ("str", "rfind", rfind, ""),
    ("str", "index", index, ""),
    ("str", "rindex", rindex, ""),
    ("str", "count", count, ""),
    ("str", "startswith", startswith, ""),
    ("str", "endswith", endswith, ""),
    ("str", "removeprefix", removeprefix, ""),
    ("str", "removesuffix", removesuffix, ""),
    ("str", "ljust", ljust, ""),
    ("str", "rjust", rjust, ""),
    ("str", "center", center, ""),
    ("str", "zfill", zfill, ""),
    ("str", "isdigit", isdigit, ""),
    ("str", "isdecimal", isdigit, ""),
    ("str", "isnumeric", isdigit, ""),
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
    ("str", "encode", encode, ""),
    ("str", "__len__", super::tuple::len, ""),
    ("str", "__iter__", super::tuple::iter, ""),
    ("str", "__getitem__", super::tuple::getitem, ""),
    ("str", "__contains__", super::tuple::contains, ""),
    ("str", "__add__", super::tuple::add, ""),
];

fn new(vm: &mut Vm, args: Args) -> Outcome {
    let [_, value, encoding, errors] =
        vm.take(args, "str", ["cls", "object", "encoding", "errors"], 1)?;
    if value.is_unbound() {
        return vm.string("");
    }
    if let Some(bytes) = vm.byte_vec(value)
        && !encoding.is_unbound()
    {
        return super::bytes::decode_bytes(vm, bytes, encoding, errors);
    }
    vm.text_of(value)
}

/// The receiver's text.
fn this(vm: &mut Vm, value: Value) -> Result<String, Fault> {
    vm.want_text(value, "self")
}

fn map(vm: &mut Vm, args: Args, word: &str, change: impl FnOnce(&str) -> String) -> Outcome {
    let [text] = vm.take(args, word, ["self"], 1)?;
    let text = this(vm, text)?;
    vm.reserve(text.len() * 3)?;
    let changed = change(&text);
    vm.string(changed)
}

fn upper(vm: &mut Vm, args: Args) -> Outcome {
    map(vm, args, "upper", str::to_uppercase)
}

fn lower(vm: &mut Vm, args: Args) -> Outcome {
    map(vm, args, "lower", str::to_lowercase)
}

fn capitalize(vm: &mut Vm, args: Args) -> Outcome {
    map(vm, args, "capitalize", |text| {
        let mut chars = text.chars();
        let first = chars.next().map(|first| first.to_uppercase().collect::<String>());
        first.unwrap_or_default() + &chars.as_str().to_lowercase()
    })
}

fn title(vm: &mut Vm, args: Args) -> Outcome {
    map(vm, args, "title", |text| {
        let mut out = String::new();
        let mut inside = false;
        for char in text.chars() {
            if inside {
                out.extend(char.to_lowercase());
            } else {
                out.extend(char.to_uppercase());
            }
            inside = char.is_alphabetic();
        }
        out
    })
}

fn swapcase(vm: &mut Vm, args: Args) -> Outcome {
    map(vm, args, "swapcase", |text| {
        let mut out = String::new();
        for char in text.chars() {
            if char.is_uppercase() {
                out.extend(char.to_lowercase());
            } else {
                out.extend(char.to_uppercase());
            }
        }
        out
    })
}

fn is_space(char: char) -> bool {
    char.is_whitespace() || ('\x1c'..='\x1f').contains(&char)
}

fn strip_by(vm: &mut Vm, args: Args, word: &str, left: bool, right: bool) -> Outcome {
    let [text, chars] = vm.take(args, word, ["self", "chars"], 1)?;
    let text = this(vm, text)?;
    let set: Option<Vec<char>> = if chars.is_unbound() || chars.is_none() {
        None
    } else {
        Some(vm.want_text(chars, "strip arg")?.chars().collect())
    };
    vm.charge((text.len() * set.as_ref().map_or(1, Vec::len) / 8) as u64)?;
    let drop = |char: char| set.as_ref().map_or_else(|| is_space(char), |set| set.contains(&char));
    let mut cut = text.as_str();
    if left {
        cut = cut.trim_start_matches(drop);
    }
    if right {
        cut = cut.trim_end_matches(drop);
    }
    vm.string(cut)
}

fn strip(vm: &mut Vm, args: Args) -> Outcome {
    strip_by(vm, args, "strip", true, true)
}

fn lstrip(vm: &mut Vm, args: Args) -> Outcome {
    strip_by(vm, args, "lstrip", true, false)
}

fn rstrip(vm: &mut Vm, args: Args) -> Outcome {
    strip_by(vm, args, "rstrip", false, true)
}

fn strings<'a>(vm: &mut Vm, parts: impl Iterator<Item = &'a str>) -> Outcome {
    let mut values = Vec::new();
    for part in parts {
        values.push(vm.string(part)?);
    }
    vm.list(values)
}

fn split_args(
    vm: &mut Vm,
    args: Args,
    word: &str,
) -> Result<(String, Option<String>, usize), Fault> {
    let [text, sep, most] = vm.take(args, word, ["self", "sep", "maxsplit"], 1)?;
    let text = this(vm, text)?;
    let most = if most.is_unbound() { -1 } else { vm.want_int(most)? };
    let sep =
        if sep.is_unbound() || sep.is_none() { None } else { Some(vm.want_text(sep, "sep")?) };
    if sep.as_deref() == Some("") {
        return Err(vm.value_error("empty separator"));
    }
    Ok((text, sep, usize::try_from(most).unwrap_or(usize::MAX)))
}

fn split(vm: &mut Vm, args: Args) -> Outcome {
    let (text, sep, most) = split_args(vm, args, "split")?;
    match sep {
        Some(sep) => strings(vm, text.splitn(most.saturating_add(1), sep.as_str())),
        None => {
            let mut parts = Vec::new();
            let mut rest = text.trim_start_matches(is_space);
            while !rest.is_empty() {
                if parts.len() == most {
                    parts.push(rest.trim_end_matches(is_space));
                    break;
                }
                let end = rest.find(is_space).unwrap_or(rest.len());
                parts.push(&rest[..end]);
                rest = rest[end..].trim_start_matches(is_space);
            }
            strings(vm, parts.into_iter())
        }
    }
}

fn rsplit(vm: &mut Vm, args: Args) -> Outcome {
    let (text, sep, most) = split_args(vm, args, "rsplit")?;
    let mut parts: Vec<&str> = Vec::new();
    match &sep {
        Some(sep) => parts.extend(text.rsplitn(most.saturating_add(1), sep.as_str())),
        None => {
            let mut rest = text.trim_end_matches(is_space);
            while !rest.is_empty() {
                if parts.len() == most {
                    parts.push(rest.trim_start_matches(is_space));
                    break;
                }
                let start = rest
                    .rfind(is_space)
                    .map_or(0, |at| at + rest[at..].chars().next().map_or(1, char::len_utf8));
                parts.push(&rest[start..]);
                rest = rest[..start].trim_end_matches(is_space);
            }
        }
    }
    parts.reverse();
    strings(vm, parts.into_iter())
}

fn splitlines(vm: &mut Vm, args: Args) -> Outcome {
    let [text, keep] = vm.take(args, "splitlines", ["self", "keepends"], 1)?;
    let text = this(vm, text)?;
    let keep = !keep.is_unbound() && vm.truth(keep)?;
    let mut lines = Vec::new();
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let ends =
            ['\n', '\r', '\x0b', '\x0c', '\x1c', '\x1d', '\x1e', '\u{85}', '\u{2028}', '\u{2029}'];
        match rest.find(ends) {
            None => {
                lines.push(rest);
                break;
            }
            Some(at) => {
                let mut end = at + rest[at..].chars().next().map_or(1, char::len_utf8);
                if rest[at..].starts_with("\r\n") {
                    end = at + 2;
                }
                lines.push(if keep { &rest[..end] } else { &rest[..at] });
                rest = &rest[end..];
            }
        }
    }
    strings(vm, lines.into_iter())
}

fn partition_by(vm: &mut Vm, args: Args, last: bool) -> Outcome {
    let [text, sep] = vm.take(args, "partition", ["self", "sep"], 2)?;
    let (text, sep) = (this(vm, text)?, vm.want_text(sep, "sep")?);
    if sep.is_empty() {
        return Err(vm.value_error("empty separator"));
    }
    let found = if last { text.rfind(&sep) } else { text.find(&sep) };
    let parts = match found {
        Some(at) => [&text[..at], &text[at..at + sep.len()], &text[at + sep.len()..]],
        None if last => ["", "", &text],
        None => [&text, "", ""],
    };
    let mut values = Vec::new();
    for part in parts {
        values.push(vm.string(part)?);
    }
    vm.tuple(values)
}

fn partition(vm: &mut Vm, args: Args) -> Outcome {
    partition_by(vm, args, false)
}

fn rpartition(vm: &mut Vm, args: Args) -> Outcome {
    partition_by(vm, args, true)
}

fn join(vm: &mut Vm, args: Args) -> Outcome {
    let [sep, source] = vm.take(args, "join", ["self", "iterable"], 2)?;
    let items = vm.items(source)?;
    let sep = this(vm, sep)?;
    let mut length = sep.len() * items.len().saturating_sub(1);
    for (index, item) in items.iter().enumerate() {
        match vm.text(*item) {
            Some(text) => length += text.len(),
            None => {
                let kind = vm.type_name(*item);
                return Err(vm.type_error(format!(
                    "sequence item {index}: expected str instance, {kind} found"
                )));
            }
        }
    }
    vm.reserve(length)?;
    let mut out = String::with_capacity(length);
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push_str(&sep);
        }
        out.push_str(vm.text(*item).unwrap_or(""));
    }
    vm.charge(cost::OBJECT)?;
    Ok(vm.heap.str(out)?.into())
}

fn replace(vm: &mut Vm, args: Args) -> Outcome {
    let [text, old, new, most] = vm.take(args, "replace", ["self", "old", "new", "count"], 3)?;
    let text = this(vm, text)?;
    let (old, new) =
        (vm.want_text(old, "replace() argument 1")?, vm.want_text(new, "replace() argument 2")?);
    let most = if most.is_unbound() { -1 } else { vm.want_int(most)? };
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    vm.charge(cost::bytes(text.len()))?;
    let found = if old.is_empty() { text.chars().count() + 1 } else { text.matches(&old).count() };
    // Sized before it is made.
    vm.reserve(text.len().saturating_add(found.min(most).saturating_mul(new.len())))?;
    let out =
        if most == usize::MAX { text.replace(&old, &new) } else { text.replacen(&old, &new, most) };
    vm.string(out)
}

/// Byte range of a part given in characters, with Python's rules for bounds.
fn bounds(
    vm: &mut Vm,
    text: &str,
    start: Value,
    stop: Value,
) -> Result<Option<(usize, usize)>, Fault> {
    let length = if text.is_ascii() { text.len() } else { text.chars().count() } as i64;
    let place = |vm: &mut Vm, value: Value, default: i64| -> Result<i64, Fault> {
        if value.is_unbound() || value.is_none() {
            return Ok(default);
        }
        let value = vm.want_place(value)?;
        Ok(if value < 0 { (value + length).max(0) } else { value })
    };
    let (start, stop) = (place(vm, start, 0)?, place(vm, stop, length)?.min(length));
    if start > stop {
        return Ok(None);
    }
    if text.is_ascii() {
        return Ok(Some((start as usize, stop as usize)));
    }
    let byte =
        |chars: i64| text.char_indices().nth(chars as usize).map_or(text.len(), |(at, _)| at);
    Ok(Some((byte(start), byte(stop))))
}

fn search(vm: &mut Vm, args: Args, word: &str, last: bool) -> Result<Option<i64>, Fault> {
    let [text, part, start, stop] = vm.take(args, word, ["self", "sub", "start", "end"], 2)?;
    let (text, part) = (this(vm, text)?, vm.want_text(part, "must be str, argument")?);
    let Some((from, to)) = bounds(vm, &text, start, stop)? else { return Ok(None) };
    let window = &text[from..to];
    let found = if last { window.rfind(&part) } else { window.find(&part) };
    Ok(found.map(|at| {
        let before = &text[..from + at];
        (if before.is_ascii() { before.len() } else { before.chars().count() }) as i64
    }))
}

fn find(vm: &mut Vm, args: Args) -> Outcome {
    Ok(Value::Int(search(vm, args, "find", false)?.unwrap_or(-1)))
}

fn rfind(vm: &mut Vm, args: Args) -> Outcome {
    Ok(Value::Int(search(vm, args, "rfind", true)?.unwrap_or(-1)))
}

fn index(vm: &mut Vm, args: Args) -> Outcome {
    match search(vm, args, "index", false)? {
        Some(at) => Ok(Value::Int(at)),
        None => Err(vm.value_error("substring not found")),
    }
}

fn rindex(vm: &mut Vm, args: Args) -> Outcome {
    match search(vm, args, "rindex", true)? {
        Some(at) => Ok(Value::Int(at)),
        None => Err(vm.value_error("substring not found")),
    }
}

fn count(vm: &mut Vm, args: Args) -> Outcome {
    let [text, part, start, stop] = vm.take(args, "count", ["self", "sub", "start", "end"], 2)?;
    let (text, part) = (this(vm, text)?, vm.want_text(part, "must be str, argument")?);
    let Some((from, to)) = bounds(vm, &text, start, stop)? else { return Ok(Value::Int(0)) };
    let window = &text[from..to];
    let found =
        if part.is_empty() { window.chars().count() + 1 } else { window.matches(&part).count() };
    Ok(Value::Int(found as i64))
}

fn affix(vm: &mut Vm, args: Args, word: &str, test: impl Fn(&str, &str) -> bool) -> Outcome {
    let [text, parts, start, stop] = vm.take(args, word, ["self", "prefix", "start", "end"], 2)?;
    let text = this(vm, text)?;
    let parts = match vm.obj(parts) {
        Some(Obj::Tuple(parts)) => parts.to_vec(),
        _ => vec![parts],
    };
    let Some((from, to)) = bounds(vm, &text, start, stop)? else { return Ok(Value::Bool(false)) };
    for part in parts {
        let Some(part) = vm.text(part) else {
            let kind = vm.type_name(part);
            return Err(vm.type_error(format!(
                "{word} first arg must be str or a tuple of str, not {kind}"
            )));
        };
        if test(&text[from..to], part) {
            return Ok(Value::Bool(true));
        }
    }
    Ok(Value::Bool(false))
}

fn startswith(vm: &mut Vm, args: Args) -> Outcome {
    affix(vm, args, "startswith", |text, part| text.starts_with(part))
}

fn endswith(vm: &mut Vm, args: Args) -> Outcome {
    affix(vm, args, "endswith", |text, part| text.ends_with(part))
}

fn removeprefix(vm: &mut Vm, args: Args) -> Outcome {
    let [text, part] = vm.take(args, "removeprefix", ["self", "prefix"], 2)?;
    let (text, part) = (this(vm, text)?, vm.want_text(part, "prefix")?);
    vm.string(text.strip_prefix(part.as_str()).unwrap_or(&text))
}

fn removesuffix(vm: &mut Vm, args: Args) -> Outcome {
    let [text, part] = vm.take(args, "removesuffix", ["self", "suffix"], 2)?;
    let (text, part) = (this(vm, text)?, vm.want_text(part, "suffix")?);
    vm.string(text.strip_suffix(part.as_str()).unwrap_or(&text))
}

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

fn every(vm: &mut Vm, args: Args, word: &str, test: impl Fn(char) -> bool) -> Outcome {
    let [text] = vm.take(args, word, ["self"], 1)?;
    let text = this(vm, text)?;
    Ok(Value::Bool(!text.is_empty() && text.chars().all(test)))
}

fn isdigit(vm: &mut Vm, args: Args) -> Outcome {
    every(vm, args, "isdigit", |char| {
        char.is_ascii_digit() || !char.is_ascii() && char.is_numeric()
    })
}

fn isalpha(vm: &mut Vm, args: Args) -> Outcome {
    every(vm, args, "isalpha", char::is_alphabetic)
}

fn isalnum(vm: &mut Vm, args: Args) -> Outcome {
    every(vm, args, "isalnum", char::is_alphanumeric)
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
    Ok(Value::Bool(
        this(vm, text)?.chars().all(|char| !char.is_control() && (char == ' ' || !is_space(char))),
    ))
}

fn cased(
    vm: &mut Vm,
    args: Args,
    good: impl Fn(char) -> bool,
    bad: impl Fn(char) -> bool,
) -> Outcome {
    let [text] = vm.take(args, "isupper", ["self"], 1)?;
    let text = this(vm, text)?;
    Ok(Value::Bool(text.chars().any(good) && !text.chars().any(bad)))
}

fn isupper(vm: &mut Vm, args: Args) -> Outcome {
    cased(vm, args, char::is_uppercase, char::is_lowercase)
}

fn islower(vm: &mut Vm, args: Args) -> Outcome {
    cased(vm, args, char::is_lowercase, char::is_uppercase)
}

fn istitle(vm: &mut Vm, args: Args) -> Outcome {
    let [text] = vm.take(args, "istitle", ["self"], 1)?;
    let text = this(vm, text)?;
    let (mut inside, mut seen, mut good) = (false, false, true);
    for char in text.chars() {
        if char.is_uppercase() {
            good &= !inside;
            seen = true;
        } else if char.is_lowercase() {
            good &= inside;
            seen = true;
        }
        inside = char.is_alphabetic();
    }
    Ok(Value::Bool(good && seen))
}

fn isidentifier(vm: &mut Vm, args: Args) -> Outcome {
    let [text] = vm.take(args, "isidentifier", ["self"], 1)?;
    let text = this(vm, text)?;
    let mut chars = text.chars();
    let first = chars.next().is_some_and(|char| char == '_' || char.is_alphabetic());
    Ok(Value::Bool(first && chars.all(|char| char == '_' || char.is_alphanumeric())))
}

fn expandtabs(vm: &mut Vm, args: Args) -> Outcome {
    let [text, size] = vm.take(args, "expandtabs", ["self", "tabsize"], 1)?;
    let text = this(vm, text)?;
    let size = if size.is_unbound() { 8 } else { vm.want_int(size)?.clamp(0, 1 << 16) as usize };
    let tabs = text.bytes().filter(|byte| *byte == b'\t').count();
    vm.reserve(text.len() + tabs * size)?;
    let mut out = String::new();
    let mut column = 0;
    for char in text.chars() {
        match char {
            '\t' if size > 0 => {
                let step = size - column % size;
                out.push_str(&" ".repeat(step));
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

fn encode(vm: &mut Vm, args: Args) -> Outcome {
    let [text, encoding, errors] = vm.take(args, "encode", ["self", "encoding", "errors"], 1)?;
    let text = this(vm, text)?;
    let encoding = if encoding.is_unbound() {
        "utf-8".to_owned()
    } else {
        vm.want_text(encoding, "encoding")?
    };
    let errors =
        if errors.is_unbound() { "strict".to_owned() } else { vm.want_text(errors, "errors")? };
    vm.reserve(text.len())?;
    let most = match encoding.to_ascii_lowercase().replace('_', "-").as_str() {
        "utf-8" | "utf8" => return vm.bytes(text.into_bytes()),
        "ascii" | "us-ascii" => 0x7f,
        "latin-1" | "latin1" | "iso-8859-1" => 0xff,
        _ => {
            let message = format!("unknown encoding: {encoding}");
            return Err(vm.raise(crate::heap::types::Type::LookupError, message));
        }
    };
    let mut bytes = Vec::with_capacity(text.len());
    for (place, char) in text.chars().enumerate() {
        match (char as u32, errors.as_str()) {
            (code, _) if code <= most => bytes.push(code as u8),
            (_, "ignore") => {}
            (_, "replace") => bytes.push(b'?'),
            _ => {
                let shown = char.escape_unicode().to_string().replace(['{', '}'], "");
                let range = most + 1;
                return Err(vm.raise(
                    crate::heap::types::Type::UnicodeEncodeError,
                    format!("'{encoding}' codec can't encode character '{shown}' in position {place}: ordinal not in range({range})"),
                ));
            }
        }
    }
    vm.bytes(bytes)
}
