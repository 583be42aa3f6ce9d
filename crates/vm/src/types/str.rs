//! str: making, case, splitting and joining.

use crate::cost;
use crate::heap::types::Type;
use crate::heap::value::Value;
use crate::run::Vm;
use crate::run::fault::{Fault, Outcome};
use crate::run::native::{Args, Table};
use crate::unicode;

pub(crate) const TABLE: Table = &[
    ("str", "__new__", new, "_str_new"),
    ("str", "upper", upper, ""),
    ("str", "lower", lower, ""),
    ("str", "casefold", casefold, ""),
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
    ("str", "encode", encode, ""),
    ("str", "__len__", super::tuple::len, ""),
    ("str", "__iter__", super::tuple::iter, ""),
    ("str", "__getitem__", super::tuple::getitem, ""),
    ("str", "__contains__", super::tuple::contains, ""),
    ("str", "__add__", super::tuple::add, ""),
];

fn new(vm: &mut Vm, args: Args) -> Outcome {
    let made = made(vm, args)?;
    vm.of_class(args, made)
}

fn made(vm: &mut Vm, args: Args) -> Outcome {
    let [_, value, encoding, errors] =
        vm.take(args, "str", ["cls", "object", "encoding", "errors"], 1)?;
    if value.is_unbound() {
        return vm.string("");
    }
    if encoding.is_unbound() && errors.is_unbound() {
        return vm.text_of(value);
    }
    match vm.byte_vec(value) {
        Some(bytes) => super::encoding::decode(vm, bytes, encoding, errors),
        None if vm.text(value).is_some() => Err(vm.type_error("decoding str is not supported")),
        None => {
            let kind = vm.type_name(value);
            let message = format!("decoding to str: need a bytes-like object, {kind} found");
            Err(vm.type_error(message))
        }
    }
}

pub(super) fn this(vm: &mut Vm, value: Value) -> Result<String, Fault> {
    vm.want_text(value, "self")
}

fn map(vm: &mut Vm, args: Args, word: &str, change: impl FnOnce(&str) -> String) -> Outcome {
    let [text] = vm.take(args, word, ["self"], 1)?;
    let text = this(vm, text)?;
    vm.reserve(text.len() * 3)?;
    // Characters beyond ASCII are looked up in tables.
    if !text.is_ascii() {
        vm.charge(cost::long(text.len()) * 8)?;
        // What a sigma becomes depends on its neighbours.
        vm.charge(cost::many(text.matches('Σ').count()) * 16)?;
    }
    if matches!(word, "title" | "swapcase") {
        vm.charge(cost::long(text.len()) * 16)?;
    }
    let changed = change(&text);
    vm.string(changed)
}

fn upper(vm: &mut Vm, args: Args) -> Outcome {
    map(vm, args, "upper", unicode::to_uppercase)
}

fn lower(vm: &mut Vm, args: Args) -> Outcome {
    map(vm, args, "lower", unicode::to_lowercase)
}

fn casefold(vm: &mut Vm, args: Args) -> Outcome {
    map(vm, args, "casefold", unicode::casefold)
}

/// A character at the beginning of a word. Of several letters only the first is large.
fn push_title(out: &mut String, char: char) {
    let digraph = match char as u32 {
        0x1c4..=0x1c6 => Some('\u{1c5}'),
        0x1c7..=0x1c9 => Some('\u{1c8}'),
        0x1ca..=0x1cc => Some('\u{1cb}'),
        0x1f1..=0x1f3 => Some('\u{1f2}'),
        _ => None,
    };
    if let Some(digraph) = digraph {
        out.push(digraph);
        return;
    }
    let mut upper = unicode::upper(char);
    out.extend(upper.next());
    out.extend(upper.flat_map(unicode::lower));
}

/// A word with a large beginning; the end of a word decides what its last letter is.
fn push_word(out: &mut String, word: &str) {
    let Some(first) = word.chars().next() else { return };
    push_title(out, first);
    let lower = unicode::to_lowercase(word);
    out.extend(lower.chars().skip(unicode::lower(first).count()));
}

fn capitalize(vm: &mut Vm, args: Args) -> Outcome {
    map(vm, args, "capitalize", |text| {
        let mut out = String::with_capacity(text.len());
        push_word(&mut out, text);
        out
    })
}

fn is_cased(char: char) -> bool {
    unicode::is_lowercase(char)
        || unicode::is_uppercase(char)
        || matches!(char, 'ǅ' | 'ǈ' | 'ǋ' | 'ǲ')
}

fn title(vm: &mut Vm, args: Args) -> Outcome {
    map(vm, args, "title", |text| {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(from) = rest.find(is_cased) {
            let (before, word) = rest.split_at(from);
            let end = word.find(|char| !is_cased(char)).unwrap_or(word.len());
            out.push_str(before);
            push_word(&mut out, &word[..end]);
            rest = &word[end..];
        }
        out + rest
    })
}

fn swapcase(vm: &mut Vm, args: Args) -> Outcome {
    map(vm, args, "swapcase", |text| {
        let mut out = String::new();
        for char in text.chars() {
            match unicode::is_uppercase(char) {
                true => out.extend(unicode::lower(char)),
                false => out.extend(unicode::upper(char)),
            }
        }
        out
    })
}

pub(super) fn is_space(char: char) -> bool {
    unicode::is_whitespace(char) || ('\x1c'..='\x1f').contains(&char)
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
    let values = cut(vm, parts)?;
    vm.list(values)
}

/// Each part is an object before the next one is looked for: what they take is counted as it grows.
fn cut<'a>(vm: &mut Vm, parts: impl Iterator<Item = &'a str>) -> Result<Vec<Value>, Fault> {
    let mut values = Vec::new();
    for part in parts {
        vm.charge(cost::PART)?;
        values.push(vm.string(part)?);
    }
    Ok(values)
}

fn split_args(
    vm: &mut Vm,
    args: Args,
    word: &str,
) -> Result<(String, Option<String>, usize), Fault> {
    let [text, sep, most] = vm.take(args, word, ["self", "sep", "maxsplit"], 1)?;
    let text = this(vm, text)?;
    let most = if most.is_unbound() { -1 } else { vm.want_int(most)? };
    let sep = super::str_search::separator(vm, sep)?;
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
            vm.charge(cost::values(text.len()))?;
            let mut rest = text.trim_start_matches(is_space);
            let mut count = 0;
            let parts = std::iter::from_fn(|| {
                let end = rest.find(is_space).filter(|_| count < most).unwrap_or(rest.len());
                let part = &rest[..end];
                rest = rest[end..].trim_start_matches(is_space);
                count += 1;
                Some(part).filter(|part| !part.is_empty())
            });
            strings(vm, parts)
        }
    }
}

fn rsplit(vm: &mut Vm, args: Args) -> Outcome {
    let (text, sep, most) = split_args(vm, args, "rsplit")?;
    let mut values = match &sep {
        Some(sep) => cut(vm, text.rsplitn(most.saturating_add(1), sep.as_str()))?,
        None => {
            vm.charge(cost::values(text.len()))?;
            let mut rest = text.trim_end_matches(is_space);
            let mut count = 0;
            let parts = std::iter::from_fn(|| {
                let space = rest.rfind(is_space).filter(|_| count < most);
                let start =
                    space.map_or(0, |at| at + rest[at..].chars().next().map_or(1, char::len_utf8));
                let part = &rest[start..];
                rest = rest[..start].trim_end_matches(is_space);
                count += 1;
                Some(part).filter(|part| !part.is_empty())
            });
            cut(vm, parts)?
        }
    };
    values.reverse();
    vm.list(values)
}

fn splitlines(vm: &mut Vm, args: Args) -> Outcome {
    let [text, keep] = vm.take(args, "splitlines", ["self", "keepends"], 1)?;
    let text = this(vm, text)?;
    let keep = !keep.is_unbound() && vm.want_int(keep)? != 0;
    vm.charge(text.len() as u64)?;
    let mut rest = text.as_str();
    let lines = std::iter::from_fn(|| {
        let ends =
            ['\n', '\r', '\x0b', '\x0c', '\x1c', '\x1d', '\x1e', '\u{85}', '\u{2028}', '\u{2029}'];
        let at = rest.find(ends).unwrap_or(rest.len());
        let end = match rest[at..].starts_with("\r\n") {
            true => at + 2,
            false => at + rest[at..].chars().next().map_or(0, char::len_utf8),
        };
        let line = if keep { &rest[..end] } else { &rest[..at] };
        rest = &rest[end..];
        Some(line).filter(|_| end > 0)
    });
    strings(vm, lines)
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
    let items = match vm.items(source) {
        Err(Fault::Raise(error)) if vm.is_exception_of(error, Type::TypeError) => {
            return Err(vm.type_error("can only join an iterable"));
        }
        items => items?,
    };
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
    // What cannot be there is not looked for: a search begins with a look at all of it.
    if old.len() > text.len() {
        vm.reserve(text.len())?;
        return vm.string(text);
    }
    let found = if old.is_empty() { text.chars().count() + 1 } else { text.matches(&old).count() };
    // Sized before it is made; every place is found twice.
    vm.charge(cost::many(found.min(most).saturating_sub(64)) * 4)?;
    vm.reserve(text.len().saturating_add(found.min(most).saturating_mul(new.len())))?;
    let out =
        if most == usize::MAX { text.replace(&old, &new) } else { text.replacen(&old, &new, most) };
    vm.string(out)
}

fn encode(vm: &mut Vm, args: Args) -> Outcome {
    let [text, encoding, errors] = vm.take(args, "encode", ["self", "encoding", "errors"], 1)?;
    let text = this(vm, text)?;
    let bytes = super::encoding::encode(vm, text, encoding, errors)?;
    vm.bytes(bytes)
}
