//! Calls, and the steps of iterators that need one.

use super::Vm;
use super::fault::{Fatal, Fault};
use super::frame::{After, Frame};
use super::native::{Args, NATIVES};
use super::steps::Flow;
use crate::code::Kind;
use crate::cost;
use crate::heap::object::{Generator, Obj, Suspended};
use crate::heap::types::{Type, name};
use crate::heap::value::{Handle, Value};

/// Things that one call may pass through before it is a function's: methods of methods, natives that ask
/// for another call, classes whose `__new__` is another one. A program decides how many there are.
const TURNS_MAX: usize = 64;
/// Turns that the price of a call covers.
const COVERED_TURNS: usize = 4;

/// What comes of one turn of a call.
pub(crate) enum Turn {
    Done(Flow),
    /// What stands at the callee's place now is called.
    Again {
        count: usize,
        keywords: Option<Handle>,
        after: After,
    },
}

impl Vm {
    /// Calls the value at `callee` on the stack with the `count` values above it; the last ones are
    /// keyword arguments if there are names.
    pub(crate) fn call(
        &mut self,
        callee: usize,
        mut count: usize,
        mut keywords: Option<Handle>,
        mut after: After,
    ) -> Result<Flow, Fault> {
        let (frames, mut namespace) = (self.frames.len(), Value::Unbound);
        // Never by Rust's own calls: a native bound as the method that it looks for has no end.
        for turn in 0..TURNS_MAX {
            if turn >= COVERED_TURNS {
                self.charge(8 + cost::values(count))?;
            }
            let handle = match self.stack[callee] {
                Value::Native(id) => {
                    match self.call_native(id, callee, count, keywords, after, &mut namespace)? {
                        Turn::Done(flow) => return Ok(flow),
                        Turn::Again { count: c, keywords: k, after: a } => {
                            (count, keywords, after) = (c, k, a);
                            continue;
                        }
                    }
                }
                Value::Ref(handle) => handle,
                _ => return Err(self.not_callable(callee)),
            };
            match self.heap.get(handle) {
                Obj::Function(function) => {
                    let (code, globals) = (function.code, function.globals);
                    let flow =
                        self.call_function(handle, code, globals, callee, count, keywords, after)?;
                    if !namespace.is_unbound()
                        && self.frames.len() > frames
                        && let Some(frame) = self.frames.last_mut()
                    {
                        frame.namespace = namespace;
                    }
                    return Ok(flow);
                }
                Obj::Method { function, receiver } => {
                    let (function, receiver) = (*function, *receiver);
                    self.stack[callee] = function;
                    self.stack.insert(callee + 1, receiver);
                    count += 1;
                }
                Obj::Class(_) => match self.instantiate(handle, callee, count, keywords, after)? {
                    Turn::Done(flow) => return Ok(flow),
                    Turn::Again { count: c, keywords: k, after: a } => {
                        (count, keywords, after) = (c, k, a);
                    }
                },
                Obj::StaticMethod(function) => self.stack[callee] = *function,
                _ => {
                    let class = self.class_of(handle.into());
                    let Some(method) = self.class_attr(class, name::CALL) else {
                        return Err(self.not_callable(callee));
                    };
                    self.stack.insert(callee, method);
                    count += 1;
                }
            }
        }
        Err(self.raise(Type::RecursionError, "maximum recursion depth exceeded"))
    }

    fn not_callable(&mut self, callee: usize) -> Fault {
        let kind = self.type_name(self.stack[callee]);
        self.type_error(format!("'{kind}' object is not callable"))
    }

    fn call_native(
        &mut self,
        id: u16,
        callee: usize,
        count: usize,
        keywords: Option<Handle>,
        after: After,
        namespace: &mut Value,
    ) -> Result<Turn, Fault> {
        let args = Args { base: callee + 1, count, keywords };
        let native = &NATIVES[id as usize];
        match (native.run)(self, args) {
            Ok(value) => {
                self.stack.truncate(callee);
                self.complete(after, value).map(Turn::Done)
            }
            Err(Fault::Fallback) if !native.fallback.is_empty() => {
                self.stack[callee] = self.prelude_function(native.fallback)?;
                Ok(Turn::Again { count, keywords, after })
            }
            Err(Fault::Fallback) => {
                // The generic way: iterables that need Python code become lists.
                let mut args = self.stack.split_off(callee);
                let names = keywords.map_or(Value::None, Value::Ref);
                args.insert(1, names);
                let function = self.prelude_function("_with_lists")?;
                self.stack.push(function);
                let count = args.len();
                self.stack.extend(args);
                Ok(Turn::Again { count, keywords: None, after })
            }
            Err(Fault::Tail(tail)) => {
                self.stack.truncate(callee);
                // Who waits for something else than a result looks at it in another way.
                let after = match tail.after {
                    After::Push => after,
                    After::Checked(_) if !matches!(after, After::Push) => after,
                    own => own,
                };
                let count = tail.args.len();
                self.stack.push(tail.callee);
                self.stack.extend(tail.args);
                *namespace = tail.namespace;
                Ok(Turn::Again { count, keywords: None, after })
            }
            Err(Fault::Enter) => {
                self.stack.truncate(callee);
                let Some((generator, value, thrown, own)) = self.entering.take() else {
                    return Err(Fatal::Internal.into());
                };
                // A loop or next() that called this wants the end in its own way.
                let after = if matches!(after, After::Push) { own } else { after };
                let Value::Ref(handle) = generator else { return Err(Fatal::Internal.into()) };
                if !matches!(self.heap.get(handle), Obj::Generator(_)) {
                    return Err(self.type_error("this needs a generator"));
                }
                let flow = if thrown {
                    self.throw_into(handle, value, after)
                } else {
                    self.resume_generator(handle, value, after)
                };
                flow.map(Turn::Done)
            }
            Err(Fault::Ask) => {
                self.stack.truncate(callee);
                if let Some(asking) = &mut self.asking {
                    asking.after = after;
                }
                Err(Fault::Ask)
            }
            Err(fault) => Err(fault),
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn call_function(
        &mut self,
        function: Handle,
        code: u32,
        globals: Handle,
        callee: usize,
        count: usize,
        keywords: Option<Handle>,
        after: After,
    ) -> Result<Flow, Fault> {
        self.check_depth()?;
        let info = &self.codes[code as usize].code;
        let (slots, kind) = (info.slots as usize, info.kind);
        if info.simple && keywords.is_none() && count == info.positional as usize {
            let top = callee + 1 + slots;
            self.stack.resize(top, Value::Unbound);
        } else {
            self.bind_arguments(function, code, callee + 1, count, keywords)?;
        }
        let frame = Frame {
            code,
            pc: 0,
            base: callee as u32 + 1,
            bottom: callee as u32,
            globals,
            namespace: Value::Unbound,
            generator: None,
            handling: Value::Unbound,
            after,
        };
        if kind != Kind::Plain {
            let slots = self.stack.split_off(callee + 1);
            self.stack.truncate(callee);
            let name = match self.heap.get(function) {
                Obj::Function(function) => function.qualname,
                _ => Value::None,
            };
            let suspended = Suspended { code, pc: 0, globals, handling: Value::Unbound, slots };
            let frame = Some(suspended);
            let owned = kind == Kind::Generator && self.is_for_a_loop(after);
            let running = false;
            let generator = Generator { kind, name, frame, running, owned };
            let generator = self.alloc(Obj::Generator(Box::new(generator)))?;
            return self.complete(after, generator);
        }
        self.frames.push(frame);
        Ok(Flow::Frame)
    }

    /// `f(*args, **kwargs)` with a list and a dict on the stack.
    pub(crate) fn call_unpacked(&mut self, with_keywords: bool) -> Result<Flow, Fault> {
        let keywords = if with_keywords { self.pop()? } else { Value::Unbound };
        let args = self.pop()?;
        let callee = self.stack.len() - 1;
        let items = match self.obj(args) {
            Some(Obj::List(items)) => items.clone(),
            _ => return Err(Fatal::Internal.into()),
        };
        self.charge(cost::values(items.len()))?;
        let mut count = items.len();
        self.stack.extend(items);
        let mut names = Vec::new();
        if let Some(Obj::Dict(dict)) = self.obj(keywords) {
            let entries: Vec<_> = dict.iter().copied().collect();
            self.charge(cost::many(entries.len()))?;
            for entry in entries {
                names.push(entry.key);
                self.stack.push(entry.value);
            }
        }
        self.check_depth()?;
        if names.is_empty() {
            return self.call(callee, count, None, After::Push);
        }
        if names.iter().any(|name| self.text(*name).is_none()) {
            return Err(self.type_error("keywords must be strings"));
        }
        count += names.len();
        let names = self.tuple(names)?;
        self.call(callee, count, names.handle(), After::Push)
    }

    /// A step of `for`: the next value on the stack, Unbound at the end, or a frame.
    pub(crate) fn for_step(&mut self, iterator: Value) -> Result<Flow, Fault> {
        if let Some(value) = self.native_next(iterator)? {
            self.stack.push(value);
            return Ok(Flow::Next);
        }
        self.start_next(iterator, After::ForIter)
    }

    /// Begins a step of an iterator that needs Python code.
    pub(crate) fn start_next(&mut self, iterator: Value, after: After) -> Result<Flow, Fault> {
        if let Value::Ref(handle) = iterator
            && matches!(self.heap.get(handle), Obj::Generator(_))
        {
            return self.resume_generator(handle, Value::None, after);
        }
        let class = self.class_of(iterator);
        let Some(method) = self.class_attr(class, name::NEXT) else {
            let kind = self.class_name(class);
            return Err(self.type_error(format!("'{kind}' object is not an iterator")));
        };
        let callee = self.stack.len();
        self.stack.extend([method, iterator]);
        match self.call(callee, 1, None, after) {
            // A native __next__ that has no more says so by StopIteration.
            Err(Fault::Raise(exception))
                if self.is_exception_of(exception, Type::StopIteration)
                    && !matches!(after, After::Next(Value::Unbound)) =>
            {
                self.stack.truncate(callee);
                let value = self.stop_value(exception);
                self.complete_end(after, value)
            }
            other => other,
        }
    }
}
