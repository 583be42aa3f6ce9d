//! What the heap holds.

use num_bigint::BigInt;

use super::dict::Dict;
use super::set::Set;
use super::types::Type;
use super::value::{Handle, Value};
use crate::code::Kind;

/// A string, with its length in characters: indexes of ASCII strings are places of bytes.
#[derive(Clone, Debug)]
pub(crate) struct Str {
    pub(crate) text: Box<str>,
    pub(crate) chars: u32,
    pub(crate) hash: u64,
}

impl Str {
    pub(crate) fn new(text: impl Into<Box<str>>) -> Self {
        let text = text.into();
        let chars = if text.is_ascii() { text.len() } else { text.chars().count() };
        let hash = super::dict::hash_bytes(text.as_bytes()) >> 3;
        Self { text, chars: chars as u32, hash }
    }

    pub(crate) fn is_ascii(&self) -> bool {
        self.chars as usize == self.text.len()
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub(crate) code: u32,
    pub(crate) globals: Handle,
    /// Tuples, a dict, a tuple of cells; or Unbound.
    pub(crate) defaults: Value,
    pub(crate) keyword_defaults: Value,
    pub(crate) closure: Value,
    pub(crate) name: Value,
    pub(crate) qualname: Value,
    pub(crate) annotations: Value,
    /// Attributes set by the program.
    pub(crate) dict: Option<Handle>,
}

#[derive(Clone, Debug)]
pub(crate) struct Class {
    pub(crate) name: Value,
    pub(crate) bases: Vec<Handle>,
    /// Itself first.
    pub(crate) mro: Vec<Handle>,
    pub(crate) dict: Handle,
    pub(crate) meta: Handle,
    /// Classes of the program that have it as a base, unless it is part of the image.
    pub(crate) derived: Vec<Handle>,
    /// The builtin type that its instances are built on.
    pub(crate) layout: Type,
    pub(crate) builtin: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Instance {
    pub(crate) class: Handle,
    pub(crate) dict: Option<Handle>,
    /// The builtin value inside an instance of a subclass of int, list and the like.
    pub(crate) payload: Value,
    /// Identity for hashing; never shown.
    pub(crate) serial: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Exception {
    pub(crate) class: Handle,
    pub(crate) args: Value,
    pub(crate) cause: Value,
    pub(crate) context: Value,
    pub(crate) suppress: bool,
    pub(crate) dict: Option<Handle>,
    /// Code and line, innermost first.
    pub(crate) traceback: Vec<(u32, u32)>,
    pub(crate) serial: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Suspended {
    pub(crate) code: u32,
    pub(crate) pc: u32,
    pub(crate) globals: Handle,
    pub(crate) handling: Value,
    pub(crate) slots: Vec<Value>,
}

#[derive(Clone, Debug)]
pub(crate) struct Generator {
    pub(crate) kind: Kind,
    pub(crate) name: Value,
    /// Nothing while it runs and after it has ended.
    pub(crate) frame: Option<Suspended>,
    pub(crate) running: bool,
    /// Whether a `for` loop alone has it: it is closed where the loop is left.
    pub(crate) owned: bool,
}

/// Iterators that need no Python code for a step.
#[derive(Clone, Debug)]
pub(crate) enum Iter {
    /// List, tuple, str, bytes, bytearray or range, by position.
    Sequence {
        source: Value,
        next: usize,
    },
    Reversed {
        source: Value,
        left: usize,
    },
    /// Keys, values or items of a dict or set, by place; the length says whether it changed.
    Dict {
        source: Handle,
        view: View,
        next: usize,
        length: usize,
        reversed: bool,
    },
    Range {
        next: i64,
        left: u64,
        step: i64,
    },
    Enumerate {
        inner: Value,
        count: i64,
    },
    Zip {
        inner: Vec<Value>,
        strict: bool,
    },
    Done,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum View {
    Keys,
    Values,
    Items,
}

#[derive(Clone, Debug)]
pub(crate) enum Obj {
    Free,
    Str(Str),
    Big(BigInt),
    Bytes(Box<[u8]>),
    ByteArray(Vec<u8>),
    List(Vec<Value>),
    Tuple(Box<[Value]>),
    Dict(Dict),
    Set(Set),
    FrozenSet(Set),
    Range {
        start: i64,
        stop: i64,
        step: i64,
    },
    Slice([Value; 3]),
    Function(Box<Function>),
    Method {
        function: Value,
        receiver: Value,
    },
    Class(Box<Class>),
    Instance(Box<Instance>),
    Exception(Box<Exception>),
    Cell(Value),
    Generator(Box<Generator>),
    Iter(Box<Iter>),
    DictView {
        dict: Handle,
        view: View,
    },
    Module {
        name: Value,
        dict: Handle,
    },
    /// Getter, setter, deleter, and the text that was given with them.
    Property([Value; 4]),
    StaticMethod(Value),
    ClassMethod(Value),
    Super {
        class: Handle,
        receiver: Value,
        of: Handle,
    },
    /// Awaiting it suspends the whole call until the host has an answer.
    Pending(u64),
    /// The same for the first of several answers.
    PendingAny(Box<[u64]>),
}

/// What an object costs beside its contents: its place in the arena and its share of the collector.
const HEADER: usize = 48;

impl Obj {
    /// Bytes that it accounts for; depends on contents only, not on capacities.
    pub(crate) fn size(&self) -> usize {
        HEADER
            + match self {
                Obj::Free => 0,
                Obj::Str(text) => text.text.len(),
                Obj::Big(big) => big.bits() as usize / 8,
                Obj::Bytes(bytes) => bytes.len(),
                Obj::ByteArray(bytes) => bytes.len(),
                Obj::List(items) => items.len() * 16,
                Obj::Tuple(items) => items.len() * 16,
                Obj::Dict(dict) => 48 + dict.size(),
                Obj::Set(set) | Obj::FrozenSet(set) => 48 + set.size(),
                Obj::Function(_) => 128,
                Obj::Class(class) => {
                    256 + (class.mro.len() + class.bases.len() + class.derived.len()) * 4
                }
                Obj::Instance(_) => 48,
                Obj::Exception(exception) => 112 + exception.traceback.len() * 8,
                Obj::Generator(generator) => {
                    64 + generator.frame.as_ref().map_or(0, |frame| 48 + frame.slots.len() * 16)
                }
                Obj::Iter(iter) => match &**iter {
                    Iter::Zip { inner, .. } => 64 + inner.len() * 16,
                    _ => 64,
                },
                Obj::Range { .. }
                | Obj::Slice(_)
                | Obj::Method { .. }
                | Obj::Cell(_)
                | Obj::DictView { .. }
                | Obj::Module { .. }
                | Obj::Property(_)
                | Obj::StaticMethod(_)
                | Obj::ClassMethod(_)
                | Obj::Super { .. }
                | Obj::Pending(_) => 16,
                Obj::PendingAny(tokens) => tokens.len() * 8,
            }
    }

    /// Calls `see` with every value inside.
    pub(crate) fn trace(&self, mut see: impl FnMut(Value)) {
        match self {
            Obj::Free
            | Obj::Str(_)
            | Obj::Big(_)
            | Obj::Bytes(_)
            | Obj::ByteArray(_)
            | Obj::Range { .. }
            | Obj::Pending(_)
            | Obj::PendingAny(_) => {}
            Obj::List(items) => items.iter().for_each(|item| see(*item)),
            Obj::Tuple(items) => items.iter().for_each(|item| see(*item)),
            Obj::Dict(dict) => dict.all_values().for_each(see),
            Obj::Set(set) | Obj::FrozenSet(set) => set.keys().for_each(see),
            Obj::Slice(parts) => parts.iter().for_each(|part| see(*part)),
            Obj::Property(parts) => parts.iter().for_each(|part| see(*part)),
            Obj::Function(function) => {
                see(function.globals.into());
                see(function.defaults);
                see(function.keyword_defaults);
                see(function.closure);
                see(function.name);
                see(function.qualname);
                see(function.annotations);
                function.dict.into_iter().for_each(|dict| see(dict.into()));
            }
            Obj::Method { function, receiver } => {
                see(*function);
                see(*receiver);
            }
            Obj::Class(class) => {
                see(class.name);
                see(class.dict.into());
                see(class.meta.into());
                let bases = class.mro.iter().chain(&class.bases);
                bases.chain(&class.derived).for_each(|class| see((*class).into()));
            }
            Obj::Instance(instance) => {
                see(instance.class.into());
                see(instance.payload);
                instance.dict.into_iter().for_each(|dict| see(dict.into()));
            }
            Obj::Exception(exception) => {
                see(exception.class.into());
                see(exception.args);
                see(exception.cause);
                see(exception.context);
                exception.dict.into_iter().for_each(|dict| see(dict.into()));
            }
            Obj::Cell(value) | Obj::StaticMethod(value) | Obj::ClassMethod(value) => see(*value),
            Obj::Generator(generator) => {
                see(generator.name);
                if let Some(frame) = &generator.frame {
                    see(frame.globals.into());
                    see(frame.handling);
                    frame.slots.iter().for_each(|slot| see(*slot));
                }
            }
            Obj::Iter(iter) => match &**iter {
                Iter::Sequence { source, .. } | Iter::Reversed { source, .. } => see(*source),
                Iter::Dict { source, .. } => see((*source).into()),
                Iter::Enumerate { inner, .. } => see(*inner),
                Iter::Zip { inner, .. } => inner.iter().for_each(|item| see(*item)),
                Iter::Range { .. } | Iter::Done => {}
            },
            Obj::DictView { dict, .. } => see((*dict).into()),
            Obj::Module { name, dict } => {
                see(*name);
                see((*dict).into());
            }
            Obj::Super { class, receiver, of } => {
                see((*class).into());
                see(*receiver);
                see((*of).into());
            }
        }
    }
}
