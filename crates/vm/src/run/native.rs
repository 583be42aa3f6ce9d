//! Functions of ours that programs can call, and how they see their arguments.

use std::sync::LazyLock;

use super::Vm;
use super::fault::{Fault, Outcome};
use crate::heap::object::{Iter, Obj};
use crate::heap::value::{Handle, Value};

/// Arguments of a native: a part of the stack, so the collector sees them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Args {
    pub(crate) base: usize,
    pub(crate) count: usize,
    /// Names of the last arguments.
    pub(crate) keywords: Option<Handle>,
}

pub(crate) type NativeFn = fn(&mut Vm, Args) -> Outcome;

pub(crate) struct Native {
    /// The type or module that it belongs to; empty for builtins, "_" for the prelude.
    pub(crate) owner: &'static str,
    pub(crate) name: &'static str,
    pub(crate) run: NativeFn,
    /// The function of the prelude that does the same when Python code is needed. Without one, the
    /// arguments that are iterables in Python become lists, and the native is called again.
    pub(crate) fallback: &'static str,
}

pub(crate) type Table = &'static [(&'static str, &'static str, NativeFn, &'static str)];

/// All natives; a value holds the place in this table.
pub(crate) static NATIVES: LazyLock<Vec<Native>> = LazyLock::new(|| {
    let tables = crate::types::TABLES;
    let all = tables.iter().flat_map(|table| table.iter());
    all.map(|(owner, name, run, fallback)| Native { owner, name, run: *run, fallback }).collect()
});

/// `__new__` takes its class as an argument and is never bound.
pub(crate) fn is_static(id: u16) -> bool {
    let native = &NATIVES[id as usize];
    native.name == "__new__"
        || native.name == "maketrans"
        || native.owner.is_empty()
        || native.owner.starts_with(|c: char| c.is_ascii_lowercase()) && is_module(native.owner)
}

fn is_module(owner: &str) -> bool {
    !crate::heap::types::TYPES.iter().any(|entry| entry.1 == owner)
}

pub(crate) fn name_of(id: u16) -> &'static str {
    NATIVES[id as usize].name
}

/// The builtin type whose method it is.
pub(crate) fn owner_of(id: u16) -> Option<&'static str> {
    let owner = NATIVES[id as usize].owner;
    crate::heap::types::TYPES.iter().map(|entry| entry.1).find(|kind| *kind == owner)
}

impl Vm {
    /// The arguments in the order of `names`; Unbound where one is missing and not required.
    pub(crate) fn take<const N: usize>(
        &mut self,
        args: Args,
        function: &str,
        names: [&str; N],
        required: usize,
    ) -> Result<[Value; N], Fault> {
        let mut taken = [Value::Unbound; N];
        let keywords = match args.keywords.map(|names| self.heap.get(names)) {
            // More than it has names for are refused at the first of them.
            Some(Obj::Tuple(names)) => names[..names.len().min(N + 1)].to_vec(),
            _ => Vec::new(),
        };
        let named = args.keywords.map_or(0, |names| self.names_len(names));
        let positional = args.count - named;
        if positional > N {
            let receiver = self.stack[args.base];
            return Err(self.miscounted(function, &names, required, positional, receiver));
        }
        taken[..positional].copy_from_slice(&self.stack[args.base..args.base + positional]);
        for (index, keyword) in keywords.into_iter().enumerate() {
            let value = self.stack[args.base + positional + index];
            let text = self.text(keyword).unwrap_or("");
            match names.iter().position(|name| *name == text) {
                Some(at) if taken[at].is_unbound() => taken[at] = value,
                _ => {
                    let text = self.shown_name(keyword);
                    return Err(self.type_error(format!(
                        "{function}() got an unexpected keyword argument '{text}'"
                    )));
                }
            }
        }
        if let Some(at) = taken[..required].iter().position(|value| value.is_unbound()) {
            if named == 0 && at == positional {
                let receiver = taken.first().copied().unwrap_or(Value::None);
                return Err(self.miscounted(function, &names, required, positional, receiver));
            }
            return Err(self.type_error(format!(
                "{function}() missing required argument '{}' (pos {})",
                names[at],
                at + 1
            )));
        }
        Ok(taken)
    }

    /// Too many arguments, or too few. The receiver of a method is not one of them.
    fn miscounted(
        &mut self,
        function: &str,
        names: &[&str],
        required: usize,
        given: usize,
        receiver: Value,
    ) -> Fault {
        let bound = usize::from(matches!(names.first(), Some(&"self" | &"cls")));
        let shown = match names.first() {
            Some(&"self") if !receiver.is_unbound() => {
                format!("{}.{function}", self.type_name(receiver))
            }
            _ => function.to_owned(),
        };
        let (most, least) = (names.len() - bound, required.saturating_sub(bound));
        let given = given.saturating_sub(bound);
        let plural = |count: usize| if count == 1 { "" } else { "s" };
        let message = match (most, least) {
            (0, _) => format!("{shown}() takes no arguments ({given} given)"),
            (1, 1) => format!("{shown}() takes exactly one argument ({given} given)"),
            _ if most == least => format!("{function} expected {most} arguments, got {given}"),
            _ if given > most => {
                format!("{function} expected at most {most} argument{}, got {given}", plural(most))
            }
            _ => {
                let plural = plural(least);
                format!("{function} expected at least {least} argument{plural}, got {given}")
            }
        };
        self.type_error(message)
    }

    /// The first argument, which a method called by its class may lack.
    pub(crate) fn receiver(&mut self, args: Args, function: &str) -> Outcome {
        let named = args.keywords.map_or(0, |names| self.names_len(names));
        if args.count <= named {
            return Err(self.type_error(format!("{function}() needs an argument")));
        }
        Ok(self.stack[args.base])
    }

    /// Returns items to an iterator that a native consumed before it gave up: the prelude then starts over.
    pub(crate) fn put_back(&mut self, source: Value, items: Vec<Value>) -> Result<(), Fault> {
        let Value::Ref(handle) = source else { return Ok(()) };
        if matches!(self.heap.get(handle), Obj::Iter(_)) {
            let source = self.list(items)?;
            *self.heap.get_mut(handle) = Obj::Iter(Box::new(Iter::Sequence { source, next: 0 }));
            self.heap.resized(handle)?;
        }
        Ok(())
    }

    fn names_len(&self, names: Handle) -> usize {
        match self.heap.get(names) {
            Obj::Tuple(names) => names.len(),
            _ => 0,
        }
    }

    /// All positional arguments; refuses keywords.
    pub(crate) fn positional(&mut self, args: Args, function: &str) -> Result<Vec<Value>, Fault> {
        if args.keywords.is_some() {
            return Err(self.type_error(format!("{function}() takes no keyword arguments")));
        }
        Ok(self.stack[args.base..args.base + args.count].to_vec())
    }
}
