//! A suspended call to bytes.

use std::collections::BTreeMap;

use super::bytes::{put_number, put_signed};
use super::{FROZEN_BYTES_MAX, FreezeError, MAGIC, kind, tag};
use crate::code::Kind;
use crate::heap::dict::Dict;
use crate::heap::object::{Class, Exception, Function, Generator, Iter, Obj, View};
use crate::heap::set::Set;
use crate::heap::value::{Handle, Value};
use crate::run::Vm;

type Written = Result<(), FreezeError>;

/// Objects are written in the order of their numbers; what one mentions for the first time gets the
/// next number. No recursion, however deep the data.
struct Writer<'a> {
    vm: &'a Vm,
    out: Vec<u8>,
    numbers: BTreeMap<Handle, u64>,
    mentioned: Vec<Handle>,
}

impl Vm {
    /// The call that waits for `token`, as bytes. The machine keeps it, too: one that is too large to be
    /// written can still be told so, by `resume` with an error.
    pub fn freeze(&self, token: u64) -> Result<Vec<u8>, FreezeError> {
        let Some(Value::Ref(coroutine)) = self.waiting.get(&token).copied() else {
            return Err(FreezeError::NotWaiting);
        };
        let (Some(hash), Some(main)) = (self.program, self.main) else {
            return Err(FreezeError::NotAlone);
        };
        let mut writer =
            Writer { vm: self, out: Vec::new(), numbers: BTreeMap::new(), mentioned: Vec::new() };
        let tokens = self.waiting.iter().filter(|(_, value)| value.is(Value::Ref(coroutine)));
        let tokens: Vec<u64> = tokens.map(|(token, _)| *token).collect();
        writer.number(tokens.len() as u64);
        tokens.iter().for_each(|token| writer.number(*token));
        writer.number(self.heap.serial());
        writer.value(coroutine.into());
        writer.value(main.into());
        let touched: Vec<Handle> = self.heap.touched().collect();
        writer.number(touched.len() as u64);
        for handle in touched {
            writer.number(u64::from(handle.0));
            writer.object(handle)?;
        }
        let mut next = 0;
        while let Some(handle) = writer.mentioned.get(next).copied() {
            writer.object(handle)?;
            next += 1;
        }
        let mut bytes = MAGIC.to_vec();
        bytes.extend(self.image_hash);
        bytes.extend(hash);
        put_number(&mut bytes, next as u64);
        bytes.extend(writer.out);
        if bytes.len() > FROZEN_BYTES_MAX { Err(FreezeError::TooLarge) } else { Ok(bytes) }
    }
}

impl Writer<'_> {
    fn number(&mut self, value: u64) {
        put_number(&mut self.out, value);
    }

    fn blob(&mut self, bytes: &[u8]) -> Written {
        if bytes.len() > FROZEN_BYTES_MAX {
            return Err(FreezeError::TooLarge);
        }
        self.number(bytes.len() as u64);
        self.out.extend(bytes);
        Ok(())
    }

    fn value(&mut self, value: Value) {
        let simple = match value {
            Value::Unbound => tag::UNBOUND,
            Value::None => tag::NONE,
            Value::NotImplemented => tag::NOT_IMPLEMENTED,
            Value::Ellipsis => tag::ELLIPSIS,
            Value::Bool(false) => tag::FALSE,
            Value::Bool(true) => tag::TRUE,
            Value::Int(int) => {
                self.out.push(tag::INT);
                return put_signed(&mut self.out, int);
            }
            Value::Float(float) => {
                self.out.push(tag::FLOAT);
                return self.out.extend(float.to_bits().to_le_bytes());
            }
            Value::Native(id) => {
                self.out.push(tag::NATIVE);
                return self.number(u64::from(id));
            }
            Value::Ref(handle) => return self.reference(handle),
        };
        self.out.push(simple);
    }

    fn reference(&mut self, handle: Handle) {
        if (handle.0 as usize) < self.vm.heap.pinned() {
            self.out.push(tag::KNOWN);
            return self.number(u64::from(handle.0));
        }
        self.out.push(tag::OBJECT);
        let next = self.mentioned.len() as u64;
        let number = *self.numbers.entry(handle).or_insert(next);
        if number == next {
            self.mentioned.push(handle);
        }
        self.number(number);
    }

    fn values(&mut self, values: &[Value]) -> Written {
        // Each takes at least one byte.
        if values.len() > FROZEN_BYTES_MAX {
            return Err(FreezeError::TooLarge);
        }
        self.number(values.len() as u64);
        values.iter().for_each(|value| self.value(*value));
        Ok(())
    }

    fn handles(&mut self, handles: &[Handle]) {
        self.number(handles.len() as u64);
        handles.iter().for_each(|handle| self.reference(*handle));
    }

    /// A handle that may be missing.
    fn maybe(&mut self, handle: Option<Handle>) {
        self.value(handle.map_or(Value::Unbound, Value::Ref));
    }

    fn object(&mut self, handle: Handle) -> Written {
        if self.out.len() > FROZEN_BYTES_MAX {
            return Err(FreezeError::TooLarge);
        }
        let vm = self.vm;
        let known = (handle.0 as usize) < vm.heap.pinned();
        let identity = vm.heap.known_identity(handle).filter(|_| !known);
        let start = self.out.len();
        self.body(handle, vm.heap.get(handle))?;
        if let Some(identity) = identity {
            self.out[start] |= kind::IDENTIFIED;
            let mut number = Vec::new();
            put_number(&mut number, identity);
            self.out.splice(start + 1..start + 1, number);
        }
        Ok(())
    }

    fn body(&mut self, handle: Handle, obj: &Obj) -> Written {
        match obj {
            // Nothing reaches a place that is free.
            Obj::Free => return Err(FreezeError::NotAlone),
            Obj::Str(text) => {
                let interned = self.vm.interned.get(&text.text) == Some(&handle);
                self.out.push(if interned { kind::INTERNED } else { kind::STR });
                self.blob(text.text.as_bytes())?;
            }
            Obj::Big(big) => {
                self.out.push(kind::BIG);
                self.blob(&big.to_signed_bytes_le())?;
            }
            Obj::Bytes(bytes) => {
                self.out.push(kind::BYTES);
                self.blob(bytes)?;
            }
            Obj::ByteArray(bytes) => {
                self.out.push(kind::BYTE_ARRAY);
                self.blob(bytes)?;
            }
            Obj::List(items) => {
                self.out.push(kind::LIST);
                self.values(items)?;
            }
            Obj::Tuple(items) => {
                self.out.push(kind::TUPLE);
                self.values(items)?;
            }
            Obj::Dict(table) => self.table(table)?,
            Obj::Set(set) => self.set(kind::SET, set)?,
            Obj::FrozenSet(set) => self.set(kind::FROZEN_SET, set)?,
            Obj::Range { start, stop, step } => {
                self.out.push(kind::RANGE);
                for part in [*start, *stop, *step] {
                    put_signed(&mut self.out, part);
                }
            }
            Obj::Slice(parts) => self.parts(kind::SLICE, parts),
            Obj::Property(parts) => self.parts(kind::PROPERTY, parts),
            Obj::Method { function, receiver } => self.parts(kind::METHOD, &[*function, *receiver]),
            Obj::Cell(value) => self.parts(kind::CELL, &[*value]),
            Obj::StaticMethod(value) => self.parts(kind::STATIC_METHOD, &[*value]),
            Obj::ClassMethod(value) => self.parts(kind::CLASS_METHOD, &[*value]),
            Obj::Module { name, dict } => self.parts(kind::MODULE, &[*name, (*dict).into()]),
            Obj::Super { class, receiver, of } => {
                self.parts(kind::SUPER, &[(*class).into(), *receiver, (*of).into()])
            }
            Obj::Function(function) => self.function(function),
            Obj::Class(class) => self.class(class),
            Obj::Instance(instance) => {
                self.out.push(kind::INSTANCE);
                self.reference(instance.class);
                self.maybe(instance.dict);
                self.value(instance.payload);
                self.number(instance.serial);
            }
            Obj::Exception(exception) => self.exception(exception),
            Obj::Generator(generator) => self.generator(generator)?,
            Obj::Iter(iter) => self.iter(iter)?,
            Obj::DictView { dict, view } => {
                self.out.extend([kind::DICT_VIEW, view_number(*view)]);
                self.reference(*dict);
            }
            Obj::Pending(token) => {
                self.out.push(kind::PENDING);
                self.number(*token);
            }
            Obj::PendingAny(tokens) => {
                self.out.push(kind::PENDING_ANY);
                self.number(tokens.len() as u64);
                tokens.iter().for_each(|token| self.number(*token));
            }
        }
        Ok(())
    }

    fn parts(&mut self, kind: u8, parts: &[Value]) {
        self.out.push(kind);
        parts.iter().for_each(|part| self.value(*part));
    }

    /// Deleted entries keep their places, which iterators count.
    fn table(&mut self, table: &Dict) -> Written {
        let entries = table.all_entries();
        if entries.len() > FROZEN_BYTES_MAX {
            return Err(FreezeError::TooLarge);
        }
        self.out.push(kind::DICT);
        self.number(entries.len() as u64);
        for entry in entries {
            self.value(entry.key);
            if !entry.key.is_unbound() {
                self.hash(entry.key, entry.hash);
                self.value(entry.value);
            }
        }
        Ok(())
    }

    /// Slots that are not empty, each by its distance from the one before; no key where an item was removed.
    fn set(&mut self, kind: u8, set: &Set) -> Written {
        let taken = set.taken().count();
        if taken > FROZEN_BYTES_MAX {
            return Err(FreezeError::TooLarge);
        }
        self.out.push(kind);
        self.number(set.room() as u64);
        self.number(u64::from(set.finger()));
        self.number(taken as u64);
        let mut next = 0;
        for (slot, item) in set.taken() {
            self.number((slot - next) as u64);
            next = slot + 1;
            self.value(item.map_or(Value::Unbound, |item| item.key));
            if let Some(item) = item {
                self.hash(item.key, item.hash);
            }
        }
        Ok(())
    }

    /// Strings, and numbers and the like, hash to the same wherever they are.
    fn hash(&mut self, key: Value, hash: u64) {
        match self.vm.obj(key) {
            Some(Obj::Str(text)) if text.hash == hash => self.out.push(0),
            None => {}
            Some(_) => {
                self.out.push(1);
                self.out.extend(hash.to_le_bytes());
            }
        }
    }

    fn function(&mut self, function: &Function) {
        self.out.push(kind::FUNCTION);
        self.number(u64::from(function.code));
        self.reference(function.globals);
        let parts = [
            function.defaults,
            function.keyword_defaults,
            function.closure,
            function.name,
            function.qualname,
            function.annotations,
        ];
        parts.iter().for_each(|part| self.value(*part));
        self.maybe(function.dict);
    }

    fn class(&mut self, class: &Class) {
        self.out.push(kind::CLASS);
        self.value(class.name);
        self.handles(&class.bases);
        self.handles(&class.mro);
        self.handles(&class.derived);
        self.reference(class.dict);
        self.reference(class.meta);
        self.number(class.layout as u64);
        self.out.push(u8::from(class.builtin));
    }

    fn exception(&mut self, exception: &Exception) {
        self.out.push(kind::EXCEPTION);
        self.reference(exception.class);
        for part in [exception.args, exception.cause, exception.context] {
            self.value(part);
        }
        self.out.push(u8::from(exception.suppress));
        self.maybe(exception.dict);
        self.number(exception.traceback.len() as u64);
        for (code, line) in &exception.traceback {
            self.number(u64::from(*code));
            self.number(u64::from(*line));
        }
        self.number(exception.serial);
    }

    fn generator(&mut self, generator: &Generator) -> Written {
        self.out.extend([kind::GENERATOR, kind_number(generator.kind)]);
        self.value(generator.name);
        self.out.push(u8::from(generator.running));
        self.out.push(u8::from(generator.owned));
        self.out.push(u8::from(generator.frame.is_some()));
        if let Some(frame) = &generator.frame {
            self.number(u64::from(frame.code));
            self.number(u64::from(frame.pc));
            self.reference(frame.globals);
            self.value(frame.handling);
            self.values(&frame.slots)?;
        }
        Ok(())
    }

    fn iter(&mut self, iter: &Iter) -> Written {
        match iter {
            Iter::Sequence { source, next } => {
                self.parts(kind::ITER_SEQUENCE, &[*source]);
                self.number(*next as u64);
            }
            Iter::Reversed { source, left } => {
                self.parts(kind::ITER_REVERSED, &[*source]);
                self.number(*left as u64);
            }
            Iter::Dict { source, view, next, length, reversed } => {
                self.out.extend([kind::ITER_DICT, view_number(*view), u8::from(*reversed)]);
                self.reference(*source);
                self.number(*next as u64);
                self.number(*length as u64);
            }
            Iter::Range { next, left, step } => {
                self.out.push(kind::ITER_RANGE);
                put_signed(&mut self.out, *next);
                self.number(*left);
                put_signed(&mut self.out, *step);
            }
            Iter::Enumerate { inner, count } => {
                self.parts(kind::ITER_ENUMERATE, &[*inner]);
                put_signed(&mut self.out, *count);
            }
            Iter::Zip { inner, strict } => {
                self.out.extend([kind::ITER_ZIP, u8::from(*strict)]);
                self.values(inner)?;
            }
            Iter::Done => self.out.push(kind::ITER_DONE),
        }
        Ok(())
    }
}

fn view_number(view: View) -> u8 {
    match view {
        View::Keys => 0,
        View::Values => 1,
        View::Items => 2,
    }
}

fn kind_number(kind: Kind) -> u8 {
    match kind {
        Kind::Plain => 0,
        Kind::Generator => 1,
        Kind::Coroutine => 2,
        Kind::AsyncGenerator => 3,
    }
}
