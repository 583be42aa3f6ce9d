//! Bytes to a machine with a suspended call.

use num_bigint::BigInt;

use super::bytes::Reader;
use super::{FROZEN_BYTES_MAX, MAGIC, ThawError, kind, tag};
use crate::front::Program;
use crate::heap::dict::{Dict, Entry};
use crate::heap::object::{Instance, Obj, View};
use crate::heap::set::{Item, Set};
use crate::heap::value::{Handle, Value, kept_float};
use crate::limits::Limits;
use crate::run::Vm;

pub(super) type Read<T> = Result<T, ThawError>;

/// A table whose keys may not have been read yet.
struct Table {
    handle: Handle,
    kind: u8,
    /// Of a set: its room, and where it goes on to give items away.
    room: usize,
    finger: u32,
    entries: Vec<Written>,
}

/// A key that is Unbound was removed.
struct Written {
    slot: usize,
    hash: Option<u64>,
    key: Value,
    value: Value,
}

pub(super) struct Thaw<'a> {
    pub(super) vm: Vm,
    pub(super) bytes: Reader<'a>,
    objects: Vec<Handle>,
    tables: Vec<Table>,
}

impl Vm {
    /// A machine in which the call that was written down goes on: by `resume`, with one of the tokens
    /// that it waits for. The program must be the one that the call began in; it is not run again. The
    /// machine has no host yet.
    pub fn thaw(program: &Program, bytes: &[u8], limits: Limits) -> Result<Vm, ThawError> {
        if bytes.len() > FROZEN_BYTES_MAX {
            return Err(ThawError::TooLarge);
        }
        let mut vm = Vm::new(limits);
        let mut reader = Reader::new(bytes);
        if reader.array::<4>()? != MAGIC {
            return Err(ThawError::Version);
        }
        if reader.array::<32>()? != vm.image_hash {
            return Err(ThawError::OtherImage);
        }
        if reader.array::<32>()? != program.hash {
            return Err(ThawError::OtherCode);
        }
        vm.load(program, false).map_err(|_| ThawError::Memory)?;
        let mut thaw = Thaw { vm, bytes: reader, objects: Vec::new(), tables: Vec::new() };
        let token = thaw.all()?;
        let vm = thaw.vm;
        // One state, one form.
        match vm.freeze(token) {
            Ok(again) if again == bytes => Ok(vm),
            _ => Err(ThawError::Malformed("not the form that writing gives")),
        }
    }

    /// The tokens that suspended calls wait for.
    pub fn waits_for(&self) -> Vec<u64> {
        self.waiting.keys().copied().collect()
    }
}

impl Thaw<'_> {
    /// Everything; returns a token that the call waits for.
    fn all(&mut self) -> Read<u64> {
        let count = self.bytes.count()?;
        for _ in 0..count {
            let handle = self.vm.heap.alloc(Obj::Free).map_err(|_| ThawError::Memory)?;
            self.objects.push(handle);
        }
        let mut tokens = Vec::new();
        for _ in 0..self.bytes.count()? {
            tokens.push(self.bytes.number()?);
        }
        let serial = self.bytes.number()?;
        self.vm.heap.set_serial(serial);
        let coroutine = self.handle()?;
        let main = self.handle()?;
        for _ in 0..self.bytes.count()? {
            let place = self.bytes.small()?;
            self.changed(place)?;
        }
        for index in 0..count {
            let handle = self.objects[index];
            let obj = self.object(handle)?;
            self.put(handle, obj)?;
        }
        if self.bytes.left() > 0 {
            return Err(ThawError::Malformed("bytes after the end"));
        }
        self.fill_tables()?;
        super::check::check(&self.vm, &self.objects)?;
        super::check::roots(&self.vm, coroutine, main)?;
        self.vm.main = Some(main);
        for token in &tokens {
            self.vm.waiting.insert(*token, coroutine.into());
        }
        self.vm.heap.normalise();
        tokens.first().copied().ok_or(ThawError::Malformed("it waits for nothing"))
    }

    fn put(&mut self, handle: Handle, obj: Obj) -> Read<()> {
        self.vm.heap.replace(handle, obj).map_err(|_| ThawError::Memory)
    }

    /// New contents for an object of the image; of the same kind, and only kinds that can change.
    fn changed(&mut self, place: u32) -> Read<()> {
        let handle = Handle(place);
        if place as usize >= self.vm.heap.pinned() {
            return Err(ThawError::Malformed("an object of the image"));
        }
        let obj = self.object(handle)?;
        let old = self.vm.heap.get(handle);
        let constant = matches!(
            old,
            Obj::Str(_) | Obj::Big(_) | Obj::Bytes(_) | Obj::Tuple(_) | Obj::FrozenSet(_)
        );
        if constant || std::mem::discriminant(old) != std::mem::discriminant(&obj) {
            return Err(ThawError::Malformed("an object of the image"));
        }
        self.put(handle, obj)
    }

    pub(super) fn value(&mut self) -> Read<Value> {
        Ok(match self.bytes.byte()? {
            tag::UNBOUND => Value::Unbound,
            tag::NONE => Value::None,
            tag::NOT_IMPLEMENTED => Value::NotImplemented,
            tag::ELLIPSIS => Value::Ellipsis,
            tag::FALSE => Value::Bool(false),
            tag::TRUE => Value::Bool(true),
            tag::INT => Value::Int(self.bytes.signed()?),
            tag::FLOAT => kept_float(u64::from_le_bytes(self.bytes.array()?)),
            tag::NATIVE => {
                let id = self.bytes.small()?;
                if id as usize >= crate::run::native::NATIVES.len() {
                    return Err(ThawError::Malformed("a native"));
                }
                Value::Native(id as u16)
            }
            tag::KNOWN => {
                let place = self.bytes.small()?;
                if place as usize >= self.vm.heap.pinned() {
                    return Err(ThawError::Malformed("a known object"));
                }
                Value::Ref(Handle(place))
            }
            tag::OBJECT => {
                let number = self.bytes.small()? as usize;
                let handle = self.objects.get(number).copied();
                Value::Ref(handle.ok_or(ThawError::Malformed("an object's number"))?)
            }
            _ => return Err(ThawError::Malformed("a value")),
        })
    }

    pub(super) fn handle(&mut self) -> Read<Handle> {
        self.value()?.handle().ok_or(ThawError::Malformed("an object is needed"))
    }

    pub(super) fn maybe(&mut self) -> Read<Option<Handle>> {
        match self.value()? {
            Value::Unbound => Ok(None),
            Value::Ref(handle) => Ok(Some(handle)),
            _ => Err(ThawError::Malformed("an object is needed")),
        }
    }

    pub(super) fn values(&mut self) -> Read<Vec<Value>> {
        let count = self.bytes.count()?;
        (0..count).map(|_| self.value()).collect()
    }

    pub(super) fn handles(&mut self) -> Read<Vec<Handle>> {
        let count = self.bytes.count()?;
        (0..count).map(|_| self.handle()).collect()
    }

    pub(super) fn code(&mut self) -> Read<u32> {
        let code = self.bytes.small()?;
        if code as usize >= self.vm.codes.len() {
            return Err(ThawError::Malformed("a code's number"));
        }
        Ok(code)
    }

    pub(super) fn view(&mut self) -> Read<View> {
        match self.bytes.byte()? {
            0 => Ok(View::Keys),
            1 => Ok(View::Values),
            2 => Ok(View::Items),
            _ => Err(ThawError::Malformed("a view")),
        }
    }

    pub(super) fn size(&mut self) -> Read<usize> {
        Ok(self.bytes.small()? as usize)
    }

    fn object(&mut self, handle: Handle) -> Read<Obj> {
        let mut kind = self.bytes.byte()?;
        if kind & kind::IDENTIFIED != 0 {
            kind &= !kind::IDENTIFIED;
            let identity = self.bytes.number()?;
            self.vm.heap.set_identity(handle, identity);
        }
        Ok(match kind {
            kind::STR | kind::INTERNED => {
                let text = std::str::from_utf8(self.bytes.blob()?)
                    .map_err(|_| ThawError::Malformed("text"))?;
                if kind == kind::INTERNED {
                    if self.vm.interned.get(text).is_some() {
                        return Err(ThawError::Malformed("a name twice"));
                    }
                    self.vm.name(text, handle);
                }
                Obj::Str(crate::heap::object::Str::new(text))
            }
            kind::BIG => Obj::Big(BigInt::from_signed_bytes_le(self.bytes.blob()?)),
            kind::BYTES => Obj::Bytes(self.bytes.blob()?.into()),
            kind::BYTE_ARRAY => Obj::ByteArray(self.bytes.blob()?.to_vec()),
            kind::LIST => Obj::List(self.values()?),
            kind::TUPLE => Obj::Tuple(self.values()?.into_boxed_slice()),
            kind::DICT | kind::SET | kind::FROZEN_SET => self.table(handle, kind)?,
            kind::RANGE => Obj::Range {
                start: self.bytes.signed()?,
                stop: self.bytes.signed()?,
                step: self.bytes.signed()?,
            },
            kind::SLICE => Obj::Slice([self.value()?, self.value()?, self.value()?]),
            kind::PROPERTY => {
                Obj::Property([self.value()?, self.value()?, self.value()?, self.value()?])
            }
            kind::METHOD => Obj::Method { function: self.value()?, receiver: self.value()? },
            kind::CELL => Obj::Cell(self.value()?),
            kind::STATIC_METHOD => Obj::StaticMethod(self.value()?),
            kind::CLASS_METHOD => Obj::ClassMethod(self.value()?),
            kind::MODULE => Obj::Module { name: self.value()?, dict: self.handle()? },
            kind::SUPER => {
                Obj::Super { class: self.handle()?, receiver: self.value()?, of: self.handle()? }
            }
            kind::FUNCTION => self.function()?,
            kind::CLASS => self.class()?,
            kind::INSTANCE => Obj::Instance(Box::new(Instance {
                class: self.handle()?,
                dict: self.maybe()?,
                payload: self.value()?,
                serial: self.bytes.number()?,
            })),
            kind::EXCEPTION => self.exception()?,
            kind::GENERATOR => self.generator()?,
            kind::DICT_VIEW => {
                let view = self.view()?;
                Obj::DictView { dict: self.handle()?, view }
            }
            kind::PENDING => Obj::Pending(self.bytes.number()?),
            kind::PENDING_ANY => {
                let count = self.bytes.count()?;
                let tokens: Read<Vec<u64>> = (0..count).map(|_| self.bytes.number()).collect();
                Obj::PendingAny(tokens?.into_boxed_slice())
            }
            _ => Obj::Iter(Box::new(self.iter(kind)?)),
        })
    }

    fn table(&mut self, handle: Handle, kind: u8) -> Read<Obj> {
        let set = kind != kind::DICT;
        let (room, finger) = if set { (self.size()?, self.bytes.small()?) } else { (0, 0) };
        let count = self.bytes.count()?;
        let mut entries = Vec::with_capacity(count);
        let mut next = 0usize;
        for _ in 0..count {
            let slot = if set { next.saturating_add(self.size()?) } else { 0 };
            next = slot.saturating_add(1);
            let key = self.value()?;
            let hash = match key {
                Value::Ref(_) if self.bytes.flag()? => {
                    Some(u64::from_le_bytes(self.bytes.array()?))
                }
                _ => None,
            };
            let value = if set || key.is_unbound() { Value::Unbound } else { self.value()? };
            entries.push(Written { slot, hash, key, value });
        }
        self.tables.push(Table { handle, kind, room, finger, entries });
        // An empty one of the right kind, until all keys are there.
        Ok(match kind {
            kind::DICT => Obj::Dict(Dict::default()),
            kind::SET => Obj::Set(Set::default()),
            _ => Obj::FrozenSet(Set::default()),
        })
    }

    fn hash_of(&mut self, entry: &Written) -> Read<u64> {
        match (entry.hash, self.vm.obj(entry.key)) {
            (Some(hash), _) => Ok(hash),
            _ if entry.key.is_unbound() => Ok(0),
            (None, Some(Obj::Str(text))) => Ok(text.hash),
            (None, Some(_)) => Err(ThawError::Malformed("a key without hash")),
            (None, None) => {
                let hash = self.vm.hash(entry.key, 0);
                hash.map_err(|_| ThawError::Malformed("a key"))
            }
        }
    }

    fn fill_tables(&mut self) -> Read<()> {
        for table in std::mem::take(&mut self.tables) {
            let obj = match table.kind {
                kind::DICT => Obj::Dict(self.filled_dict(&table)?),
                kind::SET => Obj::Set(self.filled_set(&table)?),
                _ => Obj::FrozenSet(self.filled_set(&table)?),
            };
            self.put(table.handle, obj)?;
        }
        Ok(())
    }

    fn filled_dict(&mut self, table: &Table) -> Read<Dict> {
        let mut entries = Vec::with_capacity(table.entries.len());
        for entry in &table.entries {
            let hash = self.hash_of(entry)?;
            entries.push(Entry { hash, key: entry.key, value: entry.value });
        }
        Ok(Dict::from_entries(entries))
    }

    fn filled_set(&mut self, table: &Table) -> Read<Set> {
        self.vm.heap.check(table.room.saturating_mul(4)).map_err(|_| ThawError::Memory)?;
        let mut taken = Vec::with_capacity(table.entries.len());
        for entry in &table.entries {
            let item = Item { hash: self.hash_of(entry)?, key: entry.key };
            taken.push((entry.slot, (!entry.key.is_unbound()).then_some(item)));
        }
        let set = Set::from_parts(table.room, table.finger, taken);
        set.ok_or(ThawError::Malformed("a set's slots"))
    }
}
