//! str: searching.

use crate::cost;
use crate::heap::object::Obj;
use crate::heap::value::Value;
use crate::run::Vm;
use crate::run::fault::{Fault, Outcome};
use crate::run::native::{Args, Table};

use super::str::this;

pub(crate) const TABLE: Table = &[
    ("str", "find", find, ""),
    ("str", "rfind", rfind, ""),
    ("str", "index", index, ""),
    ("str", "rindex", rindex, ""),
    ("str", "count", count, ""),
    ("str", "startswith", startswith, ""),
    ("str", "endswith", endswith, ""),
    ("str", "removeprefix", removeprefix, ""),
    ("str", "removesuffix", removesuffix, ""),
];

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
    if part.len() > window.len() {
        return Ok(None);
    }
    // A long part is looked through before it is looked for.
    vm.charge(cost::long(part.len()) * 4)?;
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
    vm.charge(cost::long(part.len()) * 4)?;
    let found =
        if part.is_empty() { window.chars().count() + 1 } else { window.matches(&part).count() };
    // Every place that is found begins a search of its own.
    vm.charge(cost::many(found) * 3)?;
    Ok(Value::Int(found as i64))
}

/// What a text may begin or end with: one thing, or a tuple of them, each of which is looked at.
pub(super) fn affixes(vm: &mut Vm, parts: Value) -> Result<Vec<Value>, Fault> {
    match vm.obj(parts) {
        Some(Obj::Tuple(items)) => {
            let count = items.len();
            vm.charge(cost::many(count) * 2)?;
            let Some(Obj::Tuple(items)) = vm.obj(parts) else { return Ok(Vec::new()) };
            Ok(items.to_vec())
        }
        _ => Ok(vec![parts]),
    }
}

fn affix(vm: &mut Vm, args: Args, word: &str, test: impl Fn(&str, &str) -> bool) -> Outcome {
    let [text, parts, start, stop] = vm.take(args, word, ["self", "prefix", "start", "end"], 2)?;
    let text = this(vm, text)?;
    let parts = affixes(vm, parts)?;
    let Some((from, to)) = bounds(vm, &text, start, stop)? else { return Ok(Value::Bool(false)) };
    for part in parts {
        let Some(part) = vm.text(part) else {
            let kind = vm.type_name(part);
            return Err(vm.type_error(format!(
                "{word} first arg must be str or a tuple of str, not {kind}"
            )));
        };
        let (found, length) = (test(&text[from..to], part), part.len().min(to - from));
        vm.charge(cost::long(length))?;
        if found {
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

/// What `split` splits at; None for blanks.
pub(super) fn separator(vm: &mut Vm, sep: Value) -> Result<Option<String>, Fault> {
    match sep {
        Value::Unbound | Value::None => Ok(None),
        sep if vm.text(sep).is_some() => vm.want_text(sep, "sep").map(Some),
        other => {
            let kind = vm.type_name(other);
            Err(vm.type_error(format!("must be str or None, not {kind}")))
        }
    }
}
