//! Generators and coroutines: frames that are put aside and taken up again.

use super::Vm;
use super::fault::{Fatal, Fault, Outcome, tail, tail_after};
use super::frame::{After, Frame, Wanted};
use super::steps::Flow;
use crate::code::{Kind, Op};
use crate::cost;
use crate::heap::object::{Obj, Suspended};
use crate::heap::types::{Type, name};
use crate::heap::value::{Handle, Value};

impl Vm {
    /// Whether a generator that is made now is the result of the instruction before a `for` loop, or of the
    /// `__iter__` that the loop calls: then there is no other reference.
    pub(super) fn is_for_a_loop(&self, after: After) -> bool {
        let Some(frame) = self.frames.last() else { return false };
        let place = match after {
            After::Push => frame.pc as usize,
            After::Checked(Wanted::Iterator) => (frame.pc as usize).wrapping_sub(1),
            _ => return false,
        };
        let instrs = &self.codes[frame.code as usize].code.instrs;
        instrs.get(place).is_some_and(|instr| instr.op == Op::GetIter)
    }

    /// Lets go of the iterator of a loop that is left. A generator that only the loop had is closed.
    pub(super) fn drop_iterator(&mut self) -> Result<(), Fault> {
        let iterator = self.pop()?;
        match self.obj(iterator) {
            Some(Obj::Generator(generator)) if generator.owned && generator.frame.is_some() => {
                let close = self.prelude_function("_close_generator")?;
                Err(tail_after(close, vec![iterator], After::Discard))
            }
            _ => Ok(()),
        }
    }

    fn generator_word(&self, handle: Handle) -> &'static str {
        match self.heap.get(handle) {
            Obj::Generator(generator) if generator.kind == Kind::Coroutine => "coroutine",
            Obj::Generator(generator) if generator.kind == Kind::AsyncGenerator => {
                "async generator"
            }
            _ => "generator",
        }
    }

    /// Takes the frame out of a generator, if it can run.
    fn take_frame(&mut self, handle: Handle) -> Result<Option<Suspended>, Fault> {
        let word = self.generator_word(handle);
        let Obj::Generator(generator) = self.heap.get_mut(handle) else {
            return Err(Fatal::Internal.into());
        };
        if generator.running {
            return Err(self.value_error(format!("{word} already executing")));
        }
        let frame = generator.frame.take();
        if frame.is_some() {
            generator.running = true;
        }
        self.heap.resized(handle)?;
        Ok(frame)
    }

    fn push_frame(&mut self, handle: Handle, frame: Suspended, after: After) -> Result<(), Fault> {
        self.charge(cost::values(frame.slots.len()))?;
        let base = self.stack.len() as u32;
        self.stack.extend(frame.slots);
        self.frames.push(Frame {
            code: frame.code,
            pc: frame.pc,
            base,
            bottom: base,
            globals: frame.globals,
            namespace: Value::Unbound,
            generator: Some(handle),
            handling: frame.handling,
            after,
        });
        Ok(())
    }

    /// Lets a generator run until it yields or ends, with `sent` as the value of its yield.
    pub(crate) fn resume_generator(
        &mut self,
        handle: Handle,
        sent: Value,
        after: After,
    ) -> Result<Flow, Fault> {
        self.check_depth()?;
        let Some(frame) = self.take_frame(handle)? else {
            if self.generator_word(handle) == "coroutine" {
                return Err(
                    self.raise(Type::RuntimeError, "cannot reuse already awaited coroutine")
                );
            }
            return self.complete_end(after, Value::None);
        };
        let fresh = frame.pc == 0;
        if fresh && !sent.is_none() {
            if let Obj::Generator(generator) = self.heap.get_mut(handle) {
                generator.frame = Some(frame);
                generator.running = false;
            }
            let message = "can't send non-None value to a just-started generator";
            return Err(self.type_error(message));
        }
        self.push_frame(handle, frame, after)?;
        if !fresh {
            self.stack.push(sent);
        }
        Ok(Flow::Frame)
    }

    /// Raises an exception at the place where a generator waits.
    pub(crate) fn throw_into(
        &mut self,
        handle: Handle,
        exception: Value,
        after: After,
    ) -> Result<Flow, Fault> {
        self.check_depth()?;
        let Some(frame) = self.take_frame(handle)? else {
            if matches!(after, After::Close) {
                return self.complete_end(after, Value::None);
            }
            return Err(Fault::Raise(exception));
        };
        if frame.pc == 0 {
            // It has not begun: nothing in it can catch, and now it is over.
            if let Obj::Generator(generator) = self.heap.get_mut(handle) {
                generator.running = false;
            }
            if matches!(after, After::Close) {
                return self.complete_end(after, Value::None);
            }
            return Err(Fault::Raise(exception));
        }
        // A generator that delegates passes it on to the one it waits for.
        let code = &self.codes[frame.code as usize].code;
        let waiting = (frame.pc as usize).checked_sub(1).map(|at| code.instrs[at]);
        let inner = match waiting {
            Some(instr) if instr.op == Op::Yield && instr.a == 1 => frame.slots.last().copied(),
            _ => None,
        };
        self.push_frame(handle, frame, after)?;
        if let Some(Value::Ref(inner)) = inner
            && matches!(self.heap.get(inner), Obj::Generator(_))
        {
            // The delegating instruction stands before the yield: it gets the result.
            if let Some(frame) = self.frames.last_mut() {
                frame.pc -= 1;
            }
            return self.throw_into(inner, exception, After::Send);
        }
        Err(Fault::Raise(exception))
    }

    /// Suspends the top frame, which is a generator's, with a value for its caller.
    pub(crate) fn yield_value(&mut self, value: Value) -> Result<Option<Value>, Fault> {
        let Some(frame) = self.frames.pop() else { return Err(Fatal::Internal.into()) };
        let Some(handle) = frame.generator else { return Err(Fatal::Internal.into()) };
        let slots = self.stack.split_off(frame.base as usize);
        self.charge(cost::values(slots.len()))?;
        if let Obj::Generator(generator) = self.heap.get_mut(handle) {
            generator.running = false;
            generator.frame = Some(Suspended {
                code: frame.code,
                pc: frame.pc,
                globals: frame.globals,
                handling: frame.handling,
                slots,
            });
        }
        self.heap.resized(handle)?;
        match frame.after {
            After::Entry => Ok(Some(value)),
            After::Close => Err(self.raise(Type::RuntimeError, "generator ignored GeneratorExit")),
            after => self.complete(after, value).map(|_| None),
        }
    }

    /// A step of `yield from` or `await`: iterator and value to send are on the stack.
    pub(crate) fn send_step(&mut self, target: u32) -> Result<Flow, Fault> {
        let value = self.pop()?;
        let iterator = self.stack[self.stack.len() - 1];
        if let Value::Ref(handle) = iterator {
            match self.heap.get(handle) {
                Obj::Generator(_) => return self.resume_generator(handle, value, After::Send),
                Obj::Pending(_) | Obj::PendingAny(_) => {
                    // First it goes out to the host, then the host's answer comes in.
                    if value.is_none() {
                        self.stack.push(iterator);
                        return Ok(Flow::Next);
                    }
                    return self.pending_answer(value, target);
                }
                _ => {}
            }
        }
        if !value.is_none() {
            let class = self.class_of(iterator);
            if let Some(send) = self.class_attr(class, name::SEND) {
                let callee = self.stack.len();
                self.stack.extend([send, iterator, value]);
                return self.call(callee, 2, None, After::Send);
            }
        }
        match self.native_next(iterator)? {
            Some(Value::Unbound) => {
                self.stack.pop();
                self.stack.push(Value::None);
                if let Some(frame) = self.frames.last_mut() {
                    frame.pc = target;
                }
                Ok(Flow::Frame)
            }
            Some(value) => {
                self.stack.push(value);
                Ok(Flow::Next)
            }
            None => self.start_next(iterator, After::Send),
        }
    }

    /// The host's answer is a list: token, whether it is good, value or exception. Who waits for one
    /// of several gets all three; who waits for one gets the value, or the exception raised.
    fn pending_answer(&mut self, answer: Value, target: u32) -> Result<Flow, Fault> {
        let waits = self.pop()?;
        let parts = match self.obj(answer) {
            Some(Obj::List(items)) => <[Value; 3]>::try_from(items.as_slice()).ok(),
            _ => None,
        };
        let value = match (self.obj(waits), parts) {
            (Some(Obj::Pending(_)), Some([_, Value::Bool(false), exception]))
                if matches!(self.obj(exception), Some(Obj::Exception(_))) =>
            {
                return Err(Fault::Raise(exception));
            }
            (Some(Obj::Pending(_)), Some([_, _, value])) => value,
            (_, Some(parts)) => self.tuple(parts.to_vec())?,
            (_, None) => answer,
        };
        self.stack.push(value);
        if let Some(frame) = self.frames.last_mut() {
            frame.pc = target;
        }
        Ok(Flow::Frame)
    }

    pub(crate) fn awaitable(&mut self, value: Value) -> Outcome {
        match self.obj(value) {
            Some(Obj::Generator(generator)) if generator.kind == Kind::Coroutine => {
                return Ok(value);
            }
            Some(Obj::Pending(_) | Obj::PendingAny(_)) => return Ok(value),
            _ => {}
        }
        if let Some(method) = self.user_method(value, name::AWAIT) {
            return Err(tail(method, vec![value]));
        }
        let kind = self.type_name(value);
        Err(self.type_error(format!("object {kind} can't be used in 'await' expression")))
    }
}
