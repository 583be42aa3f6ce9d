//! How a program is run from outside.

use super::Vm;
use super::attend::World;
use super::fault::{Fatal, Fault};
use super::frame::After;
use super::interp::Stop;
use super::steps::Flow;
use crate::contain::contained;
use crate::front::{self, CompileError};
use crate::heap::dict::Dict;
use crate::heap::object::Obj;
use crate::heap::types::{Type, name};
use crate::heap::value::Value;
use crate::limits::Limits;

/// An exception that ended a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Raised {
    pub kind: String,
    /// What `str` says of it.
    pub message: String,
    /// Function and line, outermost first.
    pub traceback: Vec<(String, u32)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    Done,
    Raised(Raised),
    Stopped(Fatal),
    Refused(CompileError),
    /// The actor has no method of this name that could be called from outside.
    NoMethod(String),
    /// It waits for the host's answer to one of these tokens: one at a plain await, several where
    /// calls run side by side.
    Suspended(Vec<u64>),
}

#[derive(Clone, Debug)]
pub struct Output {
    pub stdout: String,
    pub cycles: u64,
    pub ending: Ending,
}

/// Runs a plain script with this many cycles.
pub fn run_script(source: &str, file: &str, limits: Limits) -> Output {
    let program = match front::compile_script(source, file) {
        Ok(program) => program,
        Err(error) => {
            return Output { stdout: String::new(), cycles: 0, ending: Ending::Refused(error) };
        }
    };
    let mut vm = Vm::for_script(limits);
    let ending = match vm.run_module(&program) {
        Ok(()) => Ending::Done,
        // A script that leaves early has ended.
        Err(Ending::Raised(raised)) if raised.kind == "SystemExit" => Ending::Done,
        Err(ending) => ending,
    };
    Output {
        cycles: limits.cycles - vm.cycles.get(),
        stdout: std::mem::take(&mut vm.output),
        ending,
    }
}

impl Vm {
    /// Runs a program's module body; its names stay for `call`.
    pub fn run_module(&mut self, program: &front::Program) -> Result<(), Ending> {
        self.run_main(program).map_err(|stop| self.ending(stop))
    }

    /// Bytes that the program's objects really hold, and those that it accounts for; for tests.
    #[doc(hidden)]
    pub fn held_and_accounted(&self) -> (usize, usize) {
        (self.heap.held(), self.heap.bytes())
    }

    /// As above, in a world that the caller gives.
    pub fn run_module_in(
        &mut self,
        world: &mut dyn World,
        program: &front::Program,
    ) -> Result<(), Ending> {
        self.run_main_in(world, program).map_err(|stop| self.ending(stop))
    }

    pub(crate) fn run_main(&mut self, program: &front::Program) -> Result<(), Stop> {
        self.hosted(|vm, world| vm.run_main_in(world, program))
    }

    fn run_main_in(&mut self, world: &mut dyn World, program: &front::Program) -> Result<(), Stop> {
        match self.start_module(program) {
            Ok(()) => self.attend(Ok(Flow::Frame), world).map(|_| ()),
            Err(Fault::Raise(exception)) => Err(Stop::Raised(exception)),
            Err(Fault::Fatal(fatal)) => Err(Stop::Fatal(fatal)),
            Err(_) => Err(Stop::Fatal(Fatal::Internal)),
        }
    }

    fn start_module(&mut self, program: &front::Program) -> Result<(), Fault> {
        let code = self.load(program, false)?;
        let globals = self.heap.alloc(Obj::Dict(Dict::default()))?;
        self.main = Some(globals);
        self.dict_set_name(globals, name::NAME, name::MAIN.into())?;
        let codes = std::sync::Arc::clone(&self.codes);
        if let Some(doc) = &codes[code as usize].code.doc {
            let doc = self.string(doc.as_str())?;
            self.dict_set_name(globals, name::DOC, doc)?;
        }
        drop(codes);
        self.enter_module(code, globals, After::Entry)
    }

    /// What was printed so far.
    pub fn output(&self) -> &str {
        &self.output
    }

    /// Bytes of heap in use.
    pub fn heap_bytes(&self) -> usize {
        self.heap.bytes()
    }

    pub fn cycles_left(&self) -> u64 {
        self.cycles.get()
    }

    /// Gives it a new budget of cycles.
    pub fn refill(&mut self, cycles: u64) {
        self.cycles.set(cycles);
    }

    /// Calls a function of the module by name, with integers; for benchmarks and first tests.
    pub fn call_ints(&mut self, function: &str, args: &[i64]) -> Result<Option<i64>, Ending> {
        let found = self
            .interned
            .get(function)
            .copied()
            .and_then(|name| self.main.and_then(|main| self.dict_get_name(main, name)));
        let Some(callee) = found else {
            return Err(Ending::Stopped(Fatal::Internal));
        };
        let at = self.stack.len();
        self.stack.push(callee);
        self.stack.extend(args.iter().map(|int| Value::Int(*int)));
        let result = match self.call(at, args.len(), None, After::Entry) {
            Ok(flow) => self.hosted(|vm, world| vm.attend(Ok(flow), world)),
            Err(fault) => return Err(self.ending_of(fault)),
        };
        match result {
            Ok(Value::Int(int)) => Ok(Some(int)),
            Ok(_) => Ok(None),
            Err(stop) => Err(self.ending(stop)),
        }
    }

    pub(crate) fn ending_of(&mut self, fault: Fault) -> Ending {
        match fault {
            Fault::Raise(exception) => self.ending(Stop::Raised(exception)),
            Fault::Fatal(fatal) => self.ending(Stop::Fatal(fatal)),
            _ => Ending::Stopped(Fatal::Internal),
        }
    }

    pub(crate) fn ending(&mut self, stop: Stop) -> Ending {
        self.frames.clear();
        self.stack.clear();
        match stop {
            Stop::Raised(exception) => match contained(|| self.describe(exception)) {
                Some(raised) => Ending::Raised(raised),
                None => Ending::Stopped(Fatal::Internal),
            },
            Stop::Fatal(fatal) => Ending::Stopped(fatal),
            // Asks are answered before anything ends.
            Stop::Asked => Ending::Stopped(Fatal::Internal),
            Stop::Suspended(value) => match self.obj(value) {
                Some(Obj::Pending(token)) => Ending::Suspended(vec![*token]),
                Some(Obj::PendingAny(tokens)) => Ending::Suspended(tokens.to_vec()),
                _ => {
                    let message = "only the host can be waited for";
                    let fault = self.raise(Type::RuntimeError, message);
                    self.ending_of(fault)
                }
            },
        }
    }

    pub(crate) fn describe_stop(&mut self, stop: Stop) -> String {
        format!("{:?}", self.ending(stop))
    }

    pub(crate) fn describe(&mut self, exception: Value) -> Raised {
        let kind = self.type_name(exception);
        let traceback = match self.obj(exception) {
            Some(Obj::Exception(exception)) => exception.traceback.clone(),
            _ => Vec::new(),
        };
        let traceback = traceback
            .iter()
            .rev()
            .map(|(code, line)| (self.codes[*code as usize].code.qualname.clone(), *line))
            .collect();
        let message = self.message_of(exception);
        Raised { kind, message, traceback }
    }

    /// `str` of an exception, in Python if need be, with what cycles are left.
    pub(crate) fn message_of(&mut self, exception: Value) -> String {
        let made = match self.text_of(exception) {
            Ok(text) => Ok(text),
            Err(Fault::Fatal(_)) => return String::new(),
            Err(_) => self.prelude_function("_str").and_then(|function| {
                self.stack.push(function);
                self.stack.push(exception);
                let at = self.stack.len() - 2;
                self.call(at, 1, None, After::Entry)?;
                self.run().map_err(|_| Fault::Fallback)
            }),
        };
        self.frames.clear();
        self.stack.clear();
        made.ok().and_then(|text| self.text(text).map(str::to_owned)).unwrap_or_default()
    }
}
