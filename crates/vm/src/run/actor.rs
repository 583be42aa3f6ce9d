//! How an actor is called (`HOST.md`): a method by its name, with bytes, answered with bytes.

use super::Vm;
use super::attend::World;
use super::embed::Ending;
use super::fault::{Fatal, Fault};
use crate::cbor::Form;
use crate::contain::contained;
use crate::heap::object::Obj;
use crate::heap::types::name;
use crate::heap::value::{Handle, Value};
use crate::host::{HostError, HostValue};

/// The method that runs at deployment, and at no other time.
const INIT: &str = "init";
/// What `@actor` leaves on a class.
const MARK: &str = "_is_cowboy_actor";
/// What `@callback(anyone=True)` leaves on a function.
const OPEN_MARK: &str = "_is_open_callback";
/// Decorators around each other that are looked through.
const WRAPPERS_MAX: usize = 32;

/// What can be called from outside.
struct Method {
    /// The class, where it is a method of one.
    class: Option<Handle>,
    function: Value,
    /// Whether it takes an argument beside `self`.
    takes_argument: bool,
}

impl Vm {
    /// Calls a method of the program, whose body has run, with what the caller sent. It gets the value
    /// of canonical CBOR if that is a map, list, text or number, and the bytes themselves otherwise;
    /// what it returns becomes bytes again. A coroutine runs until it ends or waits: then the ending
    /// says for what, and `resume_method` goes on.
    pub fn call_method(&mut self, method: &str, payload: &[u8]) -> Result<Vec<u8>, Ending> {
        self.hosted(|vm, world| vm.call_method_in(world, method, payload))
    }

    /// As above, in a world that the caller gives.
    pub fn call_method_in(
        &mut self,
        world: &mut dyn World,
        method: &str,
        payload: &[u8],
    ) -> Result<Vec<u8>, Ending> {
        // The deployment alone calls `init`.
        if method == INIT {
            return Err(Ending::NoMethod(method.to_owned()));
        }
        self.call_actor(world, method, payload)
    }

    /// Runs `init`, if the program has it, with what the deployment brought.
    pub fn deploy(&mut self, payload: &[u8]) -> Result<Vec<u8>, Ending> {
        self.hosted(|vm, world| vm.deploy_in(world, payload))
    }

    /// As above, in a world that the caller gives.
    pub fn deploy_in(&mut self, world: &mut dyn World, payload: &[u8]) -> Result<Vec<u8>, Ending> {
        match self.call_actor(world, INIT, payload) {
            Err(Ending::NoMethod(_)) => Ok(Vec::new()),
            other => other,
        }
    }

    /// Goes on with a call that waits: with the host's answer, or the error that is raised at its await.
    pub fn resume_method(
        &mut self,
        token: u64,
        answer: Result<HostValue, HostError>,
    ) -> Result<Vec<u8>, Ending> {
        self.hosted(|vm, world| vm.resume_method_in(world, token, answer))
    }

    /// As above, in a world that the caller gives.
    pub fn resume_method_in(
        &mut self,
        world: &mut dyn World,
        token: u64,
        answer: Result<HostValue, HostError>,
    ) -> Result<Vec<u8>, Ending> {
        let value = self.go_on(world, token, answer)?;
        self.result_bytes(value)
    }

    /// Whether `call_method` would find it.
    pub fn has_method(&mut self, method: &str) -> bool {
        method != INIT && self.find_method(method).is_some()
    }

    /// Whether the method that `call_method` would find takes the results of anybody's jobs.
    pub fn opens(&mut self, method: &str) -> bool {
        let found = self.find_method(method).filter(|_| method != INIT);
        found.is_some_and(|found| self.is_marked_open(found.function))
    }

    /// The class of the module whose methods can be called.
    pub fn actor_class_name(&self) -> Option<String> {
        match self.heap.get(self.actor_class(self.main?)?) {
            Obj::Class(class) => self.text(class.name).map(str::to_owned),
            _ => None,
        }
    }

    /// What `call_method` would find, in the order of their names.
    pub fn methods(&mut self) -> Vec<String> {
        let Some(main) = self.main else { return Vec::new() };
        let class = self.actor_class(main).and_then(|class| match self.heap.get(class) {
            Obj::Class(class) => Some(class.dict),
            _ => None,
        });
        let mut names = Vec::new();
        for table in [Some(main), class].into_iter().flatten() {
            let table = self.table(table).into_iter().flat_map(|table| table.iter());
            names.extend(table.filter_map(|entry| self.text(entry.key)).map(str::to_owned));
        }
        names.sort_unstable();
        names.dedup();
        names.retain(|name| self.has_method(name));
        names
    }

    /// Functions of the module whose names begin so, in the order in which they came to be, and
    /// whether each takes an argument.
    pub(crate) fn functions(&self, prefix: &str) -> Vec<(String, bool)> {
        let table = self.main.and_then(|main| self.table(main));
        let entries = table.into_iter().flat_map(|table| table.iter());
        let found = entries.filter_map(|entry| {
            let name = self.text(entry.key).filter(|name| name.starts_with(prefix))?;
            Some((name.to_owned(), self.callable(entry.value, 0)?))
        });
        found.collect()
    }

    fn call_actor(
        &mut self,
        world: &mut dyn World,
        method: &str,
        payload: &[u8],
    ) -> Result<Vec<u8>, Ending> {
        let Some(found) = self.find_method(method) else {
            return Err(Ending::NoMethod(method.to_owned()));
        };
        let mut args = Vec::new();
        args.extend(found.class.map(Value::Ref));
        args.push(found.function);
        if found.takes_argument {
            match contained(|| self.argument(payload)).unwrap_or(Err(Fatal::Internal.into())) {
                Ok(argument) => args.push(argument),
                Err(fault) => return Err(self.ending_of(fault)),
            }
        }
        let entry = if found.class.is_some() { "_enter_method" } else { "_enter" };
        let value = self.enter(world, entry, &args)?;
        self.result_bytes(value)
    }

    /// What a method gets for a payload.
    fn argument(&mut self, payload: &[u8]) -> Result<Value, Fault> {
        self.reserve(payload.len())?;
        // Unsigned, negative, text, list, map, a large integer, a float: by the first byte. None, truth
        // values and bytes stay bytes: nothing tells them from a payload that is not CBOR at all.
        let shaped = payload.first().is_some_and(|first| match first >> 5 {
            0 | 1 | 3 | 4 | 5 | 6 => true,
            7 => *first == 0xfb,
            _ => false,
        });
        if shaped && let Ok(value) = self.cbor_decode(payload, Form::Canonical)? {
            return Ok(value);
        }
        self.bytes(payload.to_vec())
    }

    /// What a method's result is for its caller.
    fn result_bytes(&mut self, value: Value) -> Result<Vec<u8>, Ending> {
        let bytes = contained(|| self.message_bytes(value)).unwrap_or(Err(Fatal::Internal.into()));
        bytes.map_err(|fault| self.ending_of(fault))
    }

    /// A function of the module, or a method of its only actor class.
    fn find_method(&mut self, method: &str) -> Option<Method> {
        if method.starts_with('_') {
            return None;
        }
        let key = self.interned.get(method).copied()?;
        let main = self.main?;
        if let Some(found) = self.dict_get_name(main, key)
            && let Some(takes_argument) = self.callable(found, 0)
        {
            return Some(Method { class: None, function: found, takes_argument });
        }
        let class = self.actor_class(main)?;
        let function = self.class_attr(class, key)?;
        let takes_argument = self.callable(function, 1)?;
        Some(Method { class: Some(class), function, takes_argument })
    }

    /// Whether a value is a function that the program wrote, decorated or not, and whether it takes an
    /// argument after the first `bound` ones. What it only imported is no method.
    fn callable(&self, value: Value, bound: u16) -> Option<bool> {
        let mut value = value;
        for _ in 0..WRAPPERS_MAX {
            let Some(Obj::Function(function)) = self.obj(value) else { return None };
            let wrapped = function.dict.and_then(|dict| self.dict_get_name(dict, name::WRAPPED));
            if let Some(wrapped) = wrapped {
                value = wrapped;
                continue;
            }
            let loaded = &self.codes[function.code as usize];
            let code = &loaded.code;
            return (!loaded.hidden).then_some(code.positional > bound || code.var_args);
        }
        None
    }

    /// Whether a function, or one that it wraps, has the mark of `@callback(anyone=True)`.
    fn is_marked_open(&self, function: Value) -> bool {
        let Some(mark) = self.interned.get(OPEN_MARK).copied() else { return false };
        let mut value = function;
        for _ in 0..WRAPPERS_MAX {
            let Some(Obj::Function(function)) = self.obj(value) else { return false };
            let Some(dict) = function.dict else { return false };
            if matches!(self.dict_get_name(dict, mark), Some(Value::Bool(true))) {
                return true;
            }
            let Some(wrapped) = self.dict_get_name(dict, name::WRAPPED) else { return false };
            value = wrapped;
        }
        false
    }

    /// The only class of the module with `@actor`.
    fn actor_class(&self, main: Handle) -> Option<Handle> {
        let mark = self.interned.get(MARK).copied()?;
        let mut found = None;
        // The body paid for every one of these names.
        for entry in self.table(main)?.iter() {
            let Value::Ref(handle) = entry.value else { continue };
            let Obj::Class(class) = self.heap.get(handle) else { continue };
            // Its own mark: a base class may have one, too.
            if self.dict_get_name(class.dict, mark).is_none() || found == Some(handle) {
                continue;
            }
            if found.is_some() {
                return None;
            }
            found = Some(handle);
        }
        found
    }
}
