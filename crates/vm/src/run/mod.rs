//! The machine: stack, frames, heap and meter, and what it takes to run code on them.
//!
//! Consensus: a change here forks the chain.

pub(crate) mod actor;
pub(crate) mod arithmetic;
pub(crate) mod attend;
pub(crate) mod attr;
pub(crate) mod attr_set;
pub(crate) mod attr_special;
pub(crate) mod bind;
pub(crate) mod boot;
pub(crate) mod call;
pub(crate) mod class;
mod collect;
pub(crate) mod compare;
mod complete;
pub(crate) mod contains;
pub(crate) mod convert;
pub(crate) mod durable;
pub(crate) mod embed;
pub(crate) mod exception;
pub(crate) mod fault;
pub(crate) mod float_text;
pub(crate) mod frame;
pub(crate) mod generator;
pub(crate) mod hash;
pub(crate) mod index;
pub(crate) mod interp;
mod items;
pub(crate) mod iter;
pub(crate) mod load;
pub(crate) mod methods;
pub(crate) mod native;
pub(crate) mod number;
pub(crate) mod operator;
pub(crate) mod quick;
pub(crate) mod repr;
mod sets;
mod slice;
pub(crate) mod step_parts;
pub(crate) mod steps;
pub(crate) mod tables;
pub(crate) mod text;
pub(crate) mod unwind;
pub(crate) mod world;

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::code::Code;
use crate::heap::Heap;
use crate::heap::dict::{NameHash, Plain};
use crate::heap::interned::Interned;
use crate::heap::object::{Exception, Instance, Obj};
use crate::heap::value::{Handle, Value};
use crate::host::Host;
use crate::limits::Limits;

use fault::{Fatal, Fault, Outcome};
use frame::{After, Frame};

/// A code object with its constants and names in the heap.
#[derive(Clone, Debug)]
pub(crate) struct Loaded {
    pub(crate) code: Arc<Code>,
    pub(crate) consts: Vec<Value>,
    pub(crate) names: Vec<Value>,
    pub(crate) hashes: Vec<NameHash>,
    pub(crate) name: Value,
    pub(crate) qualname: Value,
    pub(crate) slot_names: Vec<Value>,
    /// The first code object of its program: operands count from there.
    pub(crate) first: u32,
    /// Of the prelude: no line of it is shown in tracebacks.
    pub(crate) hidden: bool,
}

/// All code objects by their numbers: those of the image first, which all machines share.
#[derive(Debug, Default)]
pub(crate) struct Codes {
    image: Arc<Vec<Loaded>>,
    own: Vec<Loaded>,
}

impl Codes {
    pub(crate) fn len(&self) -> usize {
        self.image.len() + self.own.len()
    }

    /// Those from this number on, which is not one of the image's.
    fn after(&self, number: usize) -> impl Iterator<Item = &Loaded> {
        self.own.iter().skip(number.saturating_sub(self.image.len()))
    }
}

impl std::ops::Index<usize> for Codes {
    type Output = Loaded;

    #[inline]
    fn index(&self, number: usize) -> &Loaded {
        match number.checked_sub(self.image.len()) {
            Some(own) => &self.own[own],
            None => &self.image[number],
        }
    }
}

/// Receives what is printed.
pub(crate) type Echo = Box<dyn Fn(&str) + Send>;

/// A remembered look-up of a name along a class's bases.
#[derive(Clone, Copy)]
pub(crate) struct Lookup {
    class: Handle,
    name: Handle,
    version: u32,
    /// What it takes beyond the usual: paid each time, as nothing may depend on what is remembered.
    price: u32,
    value: Value,
}

pub struct Vm {
    pub(crate) heap: Heap,
    pub(crate) stack: Vec<Value>,
    pub(crate) frames: Vec<Frame>,
    pub(crate) codes: Arc<Codes>,
    /// Code objects whose constants are shared.
    pub(crate) pinned_codes: usize,
    /// What everything that is there before a program runs hashes to.
    pub(crate) image_hash: [u8; 32],
    /// The hash of the program, if it is the only one that was loaded.
    pub(crate) program: Option<[u8; 32]>,
    /// In a cell, so that those who only look can pay, too.
    pub(crate) cycles: Cell<u64>,
    pub(crate) limits: Limits,
    pub(crate) output: String,
    /// What was written to `sys.stderr`.
    pub(crate) errors: String,
    /// Is told of what goes to either.
    pub(crate) echo: Option<Echo>,
    pub(crate) interned: Interned,
    pub(crate) builtins: Handle,
    /// Functions of the prelude, by name.
    pub(crate) prelude: Handle,
    /// All of them are the image's: a program is one file.
    pub(crate) modules: Arc<BTreeMap<String, Value>>,
    pub(crate) lookups: Vec<Lookup>,
    /// Changes with every class attribute that is set.
    pub(crate) class_version: u32,
    pub(crate) host: Option<Box<dyn Host>>,
    pub(crate) main: Option<Handle>,
    /// Coroutines that wait for the host, by token.
    pub(crate) waiting: BTreeMap<u64, Value>,
    /// Bytes that the value on its way to the host may still have.
    pub(crate) host_room: usize,
    /// How many frames there may be at once.
    pub(crate) frame_depth: usize,
    /// What a program may raise it to.
    pub(crate) frame_depth_max: usize,
    /// Held for the one who embeds the machine.
    pub(crate) kept: Value,
    pub(crate) profiler: Option<Box<crate::script::Profiler>>,
    /// For `Fault::Enter`: the generator, what goes in, whether it is thrown, and what comes after.
    pub(crate) entering: Option<(Value, Value, bool, After)>,
    /// For `Fault::Ask`: what the host is asked.
    pub(crate) asking: Option<world::Asking>,
}

impl Vm {
    /// Whether it runs a plain script, and no actor.
    pub(crate) fn is_script(&self) -> bool {
        self.frame_depth_max > crate::limits::FRAME_DEPTH_MAX
    }

    pub(crate) fn alloc(&mut self, obj: Obj) -> Outcome {
        self.charge(crate::cost::OBJECT)?;
        Ok(Value::Ref(self.heap.alloc(obj)?))
    }

    pub(crate) fn tuple(&mut self, items: Vec<Value>) -> Outcome {
        self.charge(crate::cost::values(items.len()))?;
        self.alloc(Obj::Tuple(items.into_boxed_slice()))
    }

    pub(crate) fn list(&mut self, items: Vec<Value>) -> Outcome {
        self.charge(crate::cost::values(items.len()))?;
        self.alloc(Obj::List(items))
    }

    pub(crate) fn string(&mut self, text: impl Into<Box<str>>) -> Outcome {
        let text = text.into();
        self.charge(crate::cost::OBJECT + crate::cost::bytes(text.len()))?;
        Ok(Value::Ref(self.heap.str(text)?))
    }

    pub(crate) fn bytes(&mut self, bytes: Vec<u8>) -> Outcome {
        self.charge(crate::cost::bytes(bytes.len()))?;
        self.alloc(Obj::Bytes(bytes.into_boxed_slice()))
    }

    pub(crate) fn new_exception(&mut self, class: Handle, args: Value) -> Outcome {
        let serial = self.heap.next_serial();
        self.alloc(Obj::Exception(Box::new(Exception {
            class,
            args,
            cause: Value::Unbound,
            context: Value::Unbound,
            suppress: false,
            dict: None,
            traceback: Vec::new(),
            serial,
        })))
    }

    pub(crate) fn new_instance(&mut self, class: Handle, payload: Value) -> Outcome {
        let serial = self.heap.next_serial();
        self.alloc(Obj::Instance(Box::new(Instance { class, dict: None, payload, serial })))
    }

    /// The heap object of a value, if it has one.
    pub(crate) fn obj(&self, value: Value) -> Option<&Obj> {
        value.handle().map(|handle| self.heap.get(handle))
    }

    /// The value inside an instance of a subclass of a builtin type; any other value itself.
    #[inline]
    pub(crate) fn inner(&self, value: Value) -> Value {
        match self.obj(value) {
            Some(Obj::Instance(instance)) if !instance.payload.is_unbound() => instance.payload,
            _ => value,
        }
    }

    /// The text of a str, or of an instance built on one.
    pub(crate) fn text(&self, value: Value) -> Option<&str> {
        match self.obj(self.inner(value)) {
            Some(Obj::Str(text)) => Some(&text.text),
            _ => None,
        }
    }

    pub(crate) fn intern(&mut self, text: &str) -> Result<Handle, Fatal> {
        if let Some(handle) = self.interned.get(text) {
            return Ok(*handle);
        }
        let handle = self.heap.str(text)?;
        self.name(text, handle);
        Ok(handle)
    }

    /// From now on this str is the one with its text.
    pub(crate) fn name(&mut self, text: &str, handle: Handle) {
        self.interned.insert(text.to_owned(), handle);
        self.heap.set_named(handle);
    }

    pub(crate) fn prelude_function(&mut self, name: &str) -> Outcome {
        let Some(name) = self.interned.get(name) else { return Err(Fatal::Internal.into()) };
        match self.name_in(self.prelude, *name).0 {
            Some(value) => Ok(value),
            None => Err(Fatal::Internal.into()),
        }
    }

    /// A call of a function of the prelude in place of an operation.
    pub(crate) fn prelude_tail(&mut self, name: &str, args: Vec<Value>) -> Fault {
        match self.prelude_function(name) {
            Ok(function) => fault::tail(function, args),
            Err(fault) => fault,
        }
    }

    /// Looks a name up in a namespace. A program can choose names that collide in a
    /// table's index: it pays for the steps of probing. Without cycles left, the next instruction is not
    /// run.
    #[inline]
    pub(crate) fn dict_get_name(&self, dict: Handle, name: Handle) -> Option<Value> {
        let Obj::Str(text) = self.heap.get(name) else { return None };
        self.dict_get_known(dict, name, NameHash::new(text.hash)).copied()
    }

    /// [`Self::dict_get_name`] with a known hash.
    #[inline]
    pub(crate) fn dict_get_known(
        &self,
        dict: Handle,
        name: Handle,
        known: NameHash,
    ) -> Option<&Value> {
        let Obj::Dict(table) = self.heap.get(dict) else { return None };
        match table.find_name(name, known) {
            Plain::Found(value) => Some(value),
            Plain::Absent => None,
            Plain::Unsure => self.dict_get_text(dict, name),
        }
    }

    #[inline(never)]
    fn dict_get_text(&self, dict: Handle, name: Handle) -> Option<&Value> {
        let (value, probes) = self.value_in(dict, name);
        let price = crate::cost::probes(probes);
        if price > 0 {
            self.spend(price);
        }
        value
    }

    /// The same, unpaid; with the number of entries that were looked at.
    #[inline]
    pub(crate) fn name_in(&self, dict: Handle, name: Handle) -> (Option<Value>, usize) {
        let (value, probes) = self.value_in(dict, name);
        (value.copied(), probes)
    }

    fn value_in(&self, dict: Handle, name: Handle) -> (Option<&Value>, usize) {
        let Obj::Dict(table) = self.heap.get(dict) else { return (None, 0) };
        let Obj::Str(text) = self.heap.get(name) else { return (None, 0) };
        let found = table.find(text.hash, |_, entry| match entry.key {
            Value::Ref(key) if key == name => Ok(true),
            Value::Ref(key) => match self.heap.get(key) {
                Obj::Str(other) => Ok::<bool, ()>(other.text == text.text),
                _ => Ok(false),
            },
            _ => Ok(false),
        });
        let (place, probes) = found.unwrap_or((None, 0));
        (place.and_then(|place| table.value_ref(place)), probes)
    }

    pub(crate) fn dict_set_name(
        &mut self,
        dict: Handle,
        name: Handle,
        value: Value,
    ) -> Result<(), Fault> {
        self.dict_insert(dict, name.into(), value)
    }
}
