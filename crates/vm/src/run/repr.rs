//! `repr` of values that need no Python code.

use super::Vm;
use super::fault::Fault;
use super::float_text::float_repr;
use crate::cost;
use crate::heap::object::{Obj, View};
use crate::heap::types::name;
use crate::heap::value::{Handle, Value};
use crate::limits::NESTING_MAX;
use crate::unicode;

pub(crate) fn str_repr(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = String::with_capacity(text.len() + 2);
    out.push(quote);
    for char in text.chars() {
        match char {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\\' => out.push_str("\\\\"),
            c if c == quote => {
                out.push('\\');
                out.push(c);
            }
            c if (c as u32) < 0x20 || c as u32 == 0x7f => push_byte(&mut out, c as u8),
            c if is_printable(c) => out.push(c),
            c if (c as u32) <= 0xff => out.push_str(&format!("\\x{:02x}", c as u32)),
            c if (c as u32) <= 0xffff => out.push_str(&format!("\\u{:04x}", c as u32)),
            c => out.push_str(&format!("\\U{:08x}", c as u32)),
        }
    }
    out.push(quote);
    out
}

/// A byte as an escape.
fn push_byte(out: &mut String, byte: u8) {
    out.push_str("\\x");
    for digit in [byte >> 4, byte & 15] {
        out.push(char::from_digit(digit.into(), 16).unwrap_or('0'));
    }
}

/// Whether Python shows a character as it is: no controls, separators, surrogates or private use.
pub(crate) fn is_printable(c: char) -> bool {
    let code = c as u32;
    !(c.is_control()
        || code == 0xa0
        || code == 0xad
        || (unicode::is_whitespace(c) && c != ' ')
        || (0x200b..=0x200f).contains(&code)
        || (0x2028..=0x202e).contains(&code)
        || (0x2060..=0x206f).contains(&code)
        || (0xe000..=0xf8ff).contains(&code)
        || (0xfff0..=0xfffb).contains(&code)
        || code == 0xfeff
        || code >= 0xe0000)
}

pub(crate) fn bytes_repr(bytes: &[u8]) -> String {
    let quote = if bytes.contains(&b'\'') && !bytes.contains(&b'"') { b'"' } else { b'\'' };
    let mut out = String::from("b");
    out.push(quote as char);
    for byte in bytes {
        match byte {
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            b'\\' => out.push_str("\\\\"),
            byte if *byte == quote => {
                out.push('\\');
                out.push(quote as char);
            }
            0x20..0x7f => out.push(*byte as char),
            byte => push_byte(&mut out, *byte),
        }
    }
    out.push(quote as char);
    out
}

impl Vm {
    /// `repr(value)`; Fallback if Python code is needed.
    pub(crate) fn repr(&mut self, value: Value) -> Result<String, Fault> {
        let mut out = String::new();
        let mut open = Vec::new();
        self.repr_into(value, &mut out, &mut open)?;
        Ok(out)
    }

    fn repr_into(
        &mut self,
        value: Value,
        out: &mut String,
        open: &mut Vec<Handle>,
    ) -> Result<(), Fault> {
        let before = out.len();
        match value {
            Value::Unbound | Value::None => out.push_str("None"),
            Value::NotImplemented => out.push_str("NotImplemented"),
            Value::Ellipsis => out.push_str("Ellipsis"),
            Value::Bool(true) => out.push_str("True"),
            Value::Bool(false) => out.push_str("False"),
            Value::Int(int) => out.push_str(&int.to_string()),
            Value::Float(float) => {
                let text = float_repr(float);
                self.charge(cost::float_text(float, text.len()))?;
                out.push_str(&text);
            }
            Value::Native(id) => {
                let name = super::native::name_of(id);
                match super::native::owner_of(id) {
                    Some(kind) if name.starts_with("__") => {
                        out.push_str(&format!("<slot wrapper '{name}' of '{kind}' objects>"));
                    }
                    Some(kind) => out.push_str(&format!("<method '{name}' of '{kind}' objects>")),
                    None => out.push_str(&format!("<built-in function {name}>")),
                }
            }
            Value::Ref(handle) => self.repr_object(handle, out, open)?,
        }
        self.charge(1 + cost::bytes(out.len() - before))?;
        self.heap.check(out.len())?;
        Ok(())
    }

    fn repr_object(
        &mut self,
        handle: Handle,
        out: &mut String,
        open: &mut Vec<Handle>,
    ) -> Result<(), Fault> {
        let value = Value::Ref(handle);
        match self.heap.get(handle) {
            Obj::Str(text) => {
                let length = text.text.len();
                let plain = |byte: &u8| (0x20..0x7f).contains(byte);
                let special = length - text.text.bytes().filter(plain).count();
                self.reserve(length)?;
                // Escapes, and characters that are looked at more closely.
                self.charge(cost::long(special) * 24)?;
                out.push_str(&str_repr(self.text(value).unwrap_or("")));
            }
            Obj::Big(big) => {
                let big = big.clone();
                self.charge(cost::decimal(super::number::limbs(&big)))?;
                out.push_str(&big.to_string());
            }
            Obj::Bytes(bytes) => {
                let length = bytes.len();
                self.charge(cost::long(length) * 2)?;
                let text = bytes_repr(super::compare::byte_slice(self.heap.get(handle)));
                self.reserve(text.len())?;
                out.push_str(&text);
            }
            Obj::ByteArray(bytes) => {
                let length = bytes.len();
                self.charge(cost::long(length) * 2)?;
                let text = bytes_repr(super::compare::byte_slice(self.heap.get(handle)));
                self.reserve(text.len())?;
                out.push_str(&format!("bytearray({text})"));
            }
            // Items are taken one by one: nothing is copied that may turn out to be open already, or
            // not to be shown at all.
            Obj::List(items) => {
                let count = items.len();
                self.repr_sequence(handle, count, ["[", "]", "[...]"], out, open)?;
            }
            Obj::Tuple(items) => {
                let count = items.len();
                let close = if count == 1 { ",)" } else { ")" };
                self.repr_sequence(handle, count, ["(", close, "(...)"], out, open)?;
            }
            Obj::Set(table) if table.len() == 0 => out.push_str("set()"),
            Obj::Set(table) => {
                let count = table.room();
                self.charge(cost::slots(count))?;
                self.repr_sequence(handle, count, ["{", "}", "set(...)"], out, open)?;
            }
            Obj::FrozenSet(table) if table.len() == 0 => out.push_str("frozenset()"),
            Obj::FrozenSet(table) => {
                let count = table.room();
                self.charge(cost::slots(count))?;
                let shape = ["frozenset({", "})", "frozenset(...)"];
                self.repr_sequence(handle, count, shape, out, open)?;
            }
            Obj::Dict(_) => self.repr_dict(handle, out, open)?,
            Obj::DictView { dict, view } => {
                let (dict, view) = (*dict, *view);
                let count = self.table(dict).map_or(0, |table| table.places());
                let shape = match view {
                    View::Keys => ["dict_keys([", "])", "..."],
                    View::Values => ["dict_values([", "])", "..."],
                    View::Items => ["dict_items([", "])", "..."],
                };
                self.repr_sequence(handle, count, shape, out, open)?;
            }
            Obj::Range { start, stop, step } => {
                let text = match step {
                    1 => format!("range({start}, {stop})"),
                    _ => format!("range({start}, {stop}, {step})"),
                };
                out.push_str(&text);
            }
            Obj::Slice(_) => {
                self.repr_sequence(handle, 3, ["slice(", ")", "..."], out, open)?;
            }
            Obj::Class(_) => {
                if self.user_method(value, name::REPR).is_some() {
                    return Err(Fault::Fallback);
                }
                out.push_str(&self.class_repr(handle));
            }
            Obj::Function(function) => {
                let name = self.text(function.qualname).unwrap_or("").to_owned();
                out.push_str(&format!("<function {name}>"));
            }
            Obj::Method { function, receiver } => {
                let (function, receiver) = (*function, *receiver);
                let kind = self.type_name(receiver);
                let name = match function {
                    Value::Native(id) => {
                        out.push_str(&format!(
                            "<built-in method {} of {kind} object>",
                            super::native::name_of(id)
                        ));
                        return Ok(());
                    }
                    other => match self.obj(other) {
                        Some(Obj::Function(function)) => {
                            self.text(function.qualname).unwrap_or("").to_owned()
                        }
                        _ => String::new(),
                    },
                };
                out.push_str(&format!("<bound method {name}>"));
            }
            Obj::Exception(exception) => {
                let args = exception.args;
                if self.user_method(value, name::REPR).is_some() {
                    return Err(Fault::Fallback);
                }
                let kind = self.type_name(value);
                let mut inner = String::new();
                self.repr_into(args, &mut inner, open)?;
                let inner = inner.strip_suffix(",)").map_or(inner.clone(), |cut| format!("{cut})"));
                out.push_str(&format!("{kind}{inner}"));
            }
            Obj::Instance(instance) => {
                let payload = instance.payload;
                if self.user_method(value, name::REPR).is_some() {
                    return Err(Fault::Fallback);
                }
                if payload.is_unbound() {
                    let class = self.class_of(value);
                    out.push_str(&format!("<{} object>", self.dotted_name(class)));
                } else if let Some(Obj::Set(table) | Obj::FrozenSet(table)) = self.obj(payload) {
                    let count = table.room();
                    let empty = table.len() == 0;
                    self.charge(cost::slots(count))?;
                    let kind = self.type_name(value);
                    let Value::Ref(payload) = payload else { return Ok(()) };
                    let begin = if empty { format!("{kind}(") } else { format!("{kind}({{") };
                    let end = if empty { ")" } else { "})" };
                    self.repr_sequence(payload, count, [&begin, end, "..."], out, open)?;
                } else {
                    self.repr_into(payload, out, open)?;
                }
            }
            Obj::Module { name, .. } => {
                let name = self.text(*name).unwrap_or("").to_owned();
                out.push_str(&format!("<module '{name}'>"));
            }
            Obj::Generator(generator) => {
                let name = self.text(generator.name).unwrap_or("").to_owned();
                let kind = self.type_name(value);
                out.push_str(&format!("<{kind} object {name}>"));
            }
            _ => {
                let kind = self.type_name(value);
                out.push_str(&format!("<{kind} object>"));
            }
        }
        Ok(())
    }

    /// `module.Class`, as in reprs.
    pub(crate) fn dotted_name(&mut self, class: Handle) -> String {
        let Some(info) = self.class_info(class) else { return String::new() };
        let (dict, builtin) = (info.dict, info.builtin);
        let name = match self.dict_get_name(dict, name::QUALNAME) {
            Some(qualname) => self.text(qualname).unwrap_or("").to_owned(),
            None => self.class_name(class),
        };
        if builtin {
            return name;
        }
        let module = self.dict_get_name(dict, name::MODULE);
        match module.and_then(|module| self.text(module)).unwrap_or("__main__") {
            "builtins" => name,
            module => format!("{module}.{name}"),
        }
    }

    fn class_repr(&mut self, class: Handle) -> String {
        format!("<class '{}'>", self.dotted_name(class))
    }

    fn enter_repr(&mut self, handle: Handle, open: &mut Vec<Handle>) -> Result<bool, Fault> {
        if open.contains(&handle) {
            return Ok(false);
        }
        if open.len() > NESTING_MAX {
            return Err(self.too_deep(" while getting the repr of an object"));
        }
        self.charge(open.len() as u64 / 4)?;
        open.push(handle);
        Ok(true)
    }

    fn repr_sequence(
        &mut self,
        handle: Handle,
        places: usize,
        [start, end, cycle]: [&str; 3],
        out: &mut String,
        open: &mut Vec<Handle>,
    ) -> Result<(), Fault> {
        if !self.enter_repr(handle, open)? {
            out.push_str(cycle);
            return Ok(());
        }
        out.push_str(start);
        let mut first = true;
        for place in 0..places {
            let Some(item) = self.repr_part(handle, place)? else { continue };
            if !first {
                out.push_str(", ");
            }
            first = false;
            self.repr_into(item, out, open)?;
        }
        out.push_str(end);
        open.pop();
        Ok(())
    }

    /// What is at a place of a container; nothing where an entry was removed.
    fn repr_part(&mut self, handle: Handle, place: usize) -> Result<Option<Value>, Fault> {
        Ok(match self.heap.get(handle) {
            Obj::List(items) => items.get(place).copied(),
            Obj::Tuple(items) => items.get(place).copied(),
            Obj::Slice(parts) => parts.get(place).copied(),
            Obj::Set(set) | Obj::FrozenSet(set) => set.at(place).map(|item| item.key),
            Obj::DictView { dict, view } => {
                let view = *view;
                let entry = self.table(*dict).and_then(|table| table.entry(place).copied());
                match (entry, view) {
                    (None, _) => None,
                    (Some(entry), View::Keys) => Some(entry.key),
                    (Some(entry), View::Values) => Some(entry.value),
                    (Some(entry), View::Items) => Some(self.tuple(vec![entry.key, entry.value])?),
                }
            }
            _ => None,
        })
    }

    fn repr_dict(
        &mut self,
        handle: Handle,
        out: &mut String,
        open: &mut Vec<Handle>,
    ) -> Result<(), Fault> {
        if !self.enter_repr(handle, open)? {
            out.push_str("{...}");
            return Ok(());
        }
        let places = self.table(handle).map_or(0, |table| table.places());
        out.push('{');
        let mut first = true;
        for place in 0..places {
            let entry = self.table(handle).and_then(|table| table.entry(place).copied());
            let Some(entry) = entry else { continue };
            if !first {
                out.push_str(", ");
            }
            first = false;
            self.repr_into(entry.key, out, open)?;
            out.push_str(": ");
            self.repr_into(entry.value, out, open)?;
        }
        out.push('}');
        open.pop();
        Ok(())
    }
}
