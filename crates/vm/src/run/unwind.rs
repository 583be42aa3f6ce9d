//! The way of exceptions through frames.

use super::Vm;
use super::fault::{Fatal, Fault};
use super::frame::After;
use super::interp::Stop;
use crate::code::Op;
use crate::cost;
use crate::heap::object::Obj;
use crate::heap::types::{Type, name};
use crate::heap::value::Value;

impl Vm {
    /// Deals with a fault: the frame on top goes on, or the run ends.
    pub(crate) fn recover(&mut self, fault: Fault) -> Result<Option<Value>, Stop> {
        let mut fault = fault;
        loop {
            let result = match fault {
                Fault::Fatal(fatal) => return Err(Stop::Fatal(fatal)),
                Fault::Ask => return Err(Stop::Asked),
                Fault::Fallback | Fault::Enter => return Err(Stop::Fatal(Fatal::Internal)),
                Fault::Tail(tail) => {
                    let callee = self.stack.len();
                    let count = tail.args.len();
                    self.stack.push(tail.callee);
                    self.stack.extend(tail.args);
                    self.call(callee, count, None, tail.after).map(|_| ())
                }
                Fault::Raise(exception) => {
                    self.note_context(exception);
                    match self.unwind(exception) {
                        Ok(()) => Ok(()),
                        Err(Ok(fault)) => Err(fault),
                        Err(Err(stop)) => return Err(stop),
                    }
                }
            };
            match result {
                Ok(()) => return Ok(None),
                Err(next) => fault = next,
            }
        }
    }

    /// Finds who handles an exception. An inner error is a fault on the way.
    fn unwind(&mut self, exception: Value) -> Result<(), Result<Fault, Stop>> {
        let mut exception = exception;
        loop {
            self.charge(cost::UNWIND).map_err(Ok)?;
            let Some(frame) = self.frames.last().cloned() else {
                return Err(Err(Stop::Raised(exception)));
            };
            let codes = std::sync::Arc::clone(&self.codes);
            let loaded = &codes[frame.code as usize];
            let pc = frame.pc.saturating_sub(1);
            if !loaded.hidden {
                let instr = loaded.code.instrs[pc as usize];
                let again = instr.op == Op::Reraise || instr.op == Op::Raise && instr.a == 0;
                self.note_line(exception, frame.code, loaded.code.line(pc), again).map_err(Ok)?;
            }
            let handlers = &loaded.code.handlers;
            let found = handlers.iter().position(|h| h.start <= pc && pc < h.end);
            let searched = found.unwrap_or(handlers.len());
            self.charge(cost::handlers(searched)).map_err(Ok)?;
            if let Some(handler) = found.map(|place| &handlers[place]) {
                let height = frame.base as usize + loaded.code.slots as usize;
                self.stack.truncate(height + handler.depth as usize);
                self.stack.push(exception);
                if let Some(frame) = self.frames.last_mut() {
                    frame.pc = handler.target;
                }
                return Ok(());
            }
            self.frames.pop();
            self.stack.truncate(frame.bottom as usize);
            if let Some(handle) = frame.generator {
                if let Obj::Generator(generator) = self.heap.get_mut(handle) {
                    generator.running = false;
                }
                if self.is_exception_of(exception, Type::StopIteration) {
                    let error = self.raise(Type::RuntimeError, "generator raised StopIteration");
                    let Fault::Raise(error) = error else { return Err(Ok(error)) };
                    self.set_cause(error, exception);
                    exception = error;
                }
            }
            let stopped = self.is_exception_of(exception, Type::StopIteration);
            match frame.after {
                After::Entry => return Err(Err(Stop::Raised(exception))),
                After::ForIter | After::Next(_) | After::Send if stopped => {
                    let value = self.stop_value(exception);
                    if let After::Next(Value::Unbound) = frame.after {
                        continue;
                    }
                    return self.complete_end(frame.after, value).map(|_| ()).map_err(Ok);
                }
                After::Close if stopped || self.is_exception_of(exception, Type::GeneratorExit) => {
                    self.stack.push(Value::None);
                    return Ok(());
                }
                After::GetAttr(object, name)
                    if self.is_exception_of(exception, Type::AttributeError) =>
                {
                    let class = self.class_of(object);
                    if let Some(hook) = self.class_attr(class, name::GETATTR) {
                        return Err(Ok(super::fault::tail(hook, vec![object, name])));
                    }
                }
                _ => {}
            }
        }
    }
}
