//! Handlers that wait: a call of an `async def` runs until it awaits the host, is put aside under the
//! host's token, and goes on when the answer comes.

use super::Vm;
use super::attend::World;
use super::embed::Ending;
use super::fault::{Fatal, Fault, Outcome};
use super::frame::After;
use super::interp::Stop;
use crate::code::Kind;
use crate::cost;
use crate::heap::object::Obj;
use crate::heap::types::Type;
use crate::heap::value::Value;
use crate::host::{HostError, HostValue};

impl Vm {
    /// Calls a function of the module. A coroutine is run; if it waits for the host, the ending says
    /// for which token, and `resume` goes on.
    pub fn call_handler(
        &mut self,
        function: &str,
        args: &[HostValue],
    ) -> Result<HostValue, Ending> {
        self.hosted(|vm, world| vm.call_handler_in(world, function, args))
    }

    /// As above, in a world that the caller gives.
    pub fn call_handler_in(
        &mut self,
        world: &mut dyn World,
        function: &str,
        args: &[HostValue],
    ) -> Result<HostValue, Ending> {
        let found = self.interned.get(function).copied();
        let callee =
            found.and_then(|name| self.main.and_then(|main| self.dict_get_name(main, name)));
        let Some(callee) = callee else {
            let fault = self.raise(Type::NameError, format!("name '{function}' is not defined"));
            return Err(self.ending_of(fault));
        };
        let mut values = vec![callee];
        for arg in args {
            match self.value_of_host(arg) {
                Ok(value) => values.push(value),
                Err(fault) => return Err(self.ending_of(fault)),
            }
        }
        let value = self.enter(world, "_enter", &values)?;
        self.result_for_host(value)
    }

    /// Calls a function of the prelude; what it returns is run, if it is a coroutine.
    pub(super) fn enter(
        &mut self,
        world: &mut dyn World,
        entry: &str,
        args: &[Value],
    ) -> Result<Value, Ending> {
        let entry = match self.prelude_function(entry) {
            Ok(entry) => entry,
            Err(fault) => return Err(self.ending_of(fault)),
        };
        let at = self.stack.len();
        self.stack.push(entry);
        self.stack.extend(args);
        let started = self.call(at, args.len(), None, After::Entry);
        match self.attend(started, world) {
            Ok(value) => self.run_coroutine(value, world),
            Err(stop) => Err(self.ending(stop)),
        }
    }

    fn result_for_host(&mut self, value: Value) -> Result<HostValue, Ending> {
        match self.host_value(value, 0) {
            Ok(value) => Ok(value),
            Err(fault) => Err(self.ending_of(fault)),
        }
    }

    /// The answer to what a suspended handler waits for.
    pub fn resume(
        &mut self,
        token: u64,
        answer: Result<HostValue, HostError>,
    ) -> Result<HostValue, Ending> {
        self.hosted(|vm, world| vm.resume_in(world, token, answer))
    }

    /// As above, in a world that the caller gives.
    pub fn resume_in(
        &mut self,
        world: &mut dyn World,
        token: u64,
        answer: Result<HostValue, HostError>,
    ) -> Result<HostValue, Ending> {
        let value = self.go_on(world, token, answer)?;
        self.result_for_host(value)
    }

    /// `resume`, with the result as it is.
    pub(super) fn go_on(
        &mut self,
        world: &mut dyn World,
        token: u64,
        answer: Result<HostValue, HostError>,
    ) -> Result<Value, Ending> {
        let Some(Value::Ref(coroutine)) = self.waiting.get(&token).copied() else {
            return Err(Ending::Stopped(Fatal::Internal));
        };
        // It waits for nothing else until it says so again.
        self.waiting.retain(|_, waits| !waits.is(Value::Ref(coroutine)));
        let started = self
            .answer(token, answer)
            .and_then(|answer| self.resume_generator(coroutine, answer, After::Entry));
        let result = self.attend(started, world);
        self.settle(Value::Ref(coroutine), result)
    }

    /// See `pending_answer` for the form.
    fn answer(&mut self, token: u64, answer: Result<HostValue, HostError>) -> Outcome {
        let (good, value) = match answer {
            Ok(value) => (true, self.value_of_host(&value)?),
            Err(error) => match self.host_fault(&error) {
                Fault::Raise(exception) => (false, exception),
                fault => return Err(fault),
            },
        };
        let token = self.int(num_bigint::BigInt::from(token))?;
        self.list(vec![token, Value::Bool(good), value])
    }

    fn run_coroutine(&mut self, value: Value, world: &mut dyn World) -> Result<Value, Ending> {
        let coroutine = match (value, self.obj(value)) {
            (Value::Ref(handle), Some(Obj::Generator(generator)))
                if generator.kind == Kind::Coroutine =>
            {
                handle
            }
            _ => return Ok(value),
        };
        let started = self.resume_generator(coroutine, Value::None, After::Entry);
        let result = self.attend(started, world);
        self.settle(value, result)
    }

    fn settle(&mut self, coroutine: Value, result: Result<Value, Stop>) -> Result<Value, Ending> {
        match result {
            Ok(value) => Ok(value),
            Err(stop) => {
                let ending = self.ending(stop);
                if let Ending::Suspended(tokens) = &ending {
                    for token in tokens {
                        self.waiting.insert(*token, coroutine);
                    }
                    if let Err(fault) = self.put_aside() {
                        self.waiting.retain(|_, waits| !waits.is(coroutine));
                        return Err(self.ending_of(fault));
                    }
                }
                Err(ending)
            }
        }
    }

    /// Brings the machine into the state that it would have after the call was written down and read
    /// again, so that both ways take the same cycles.
    fn put_aside(&mut self) -> Result<(), Fault> {
        self.collect_garbage()?;
        let done = self.heap.normalise();
        // Keys that collide take the same steps now and twice more when the call is read again.
        let tables = cost::entries(done.entries) + 3 * done.steps as u64;
        self.charge(cost::objects(done.objects) + tables)
    }
}
