//! Methods of generators and coroutines.

use crate::heap::object::Obj;
use crate::heap::types::Type;
use crate::heap::value::Value;
use crate::run::Vm;
use crate::run::fault::{Fault, Outcome};
use crate::run::frame::After;
use crate::run::native::Args;

pub(super) fn identity(vm: &mut Vm, args: Args) -> Outcome {
    let [value] = vm.take(args, "__iter__", ["self"], 1)?;
    Ok(value)
}

/// Generators run as frames: the native is replaced by the generator's own frame, which the machine
/// pushes when it sees this call.
pub(super) fn generator_send(vm: &mut Vm, args: Args) -> Outcome {
    let [generator, value] = vm.take(args, "send", ["self", "value"], 2)?;
    vm.enter_generator(args, generator, value)
}

pub(super) fn generator_next(vm: &mut Vm, args: Args) -> Outcome {
    let [generator] = vm.take(args, "__next__", ["self"], 1)?;
    vm.enter_generator(args, generator, Value::None)
}

pub(super) fn generator_throw(vm: &mut Vm, args: Args) -> Outcome {
    let [generator, kind, value, _] = vm.take(args, "throw", ["self", "type", "value", "tb"], 2)?;
    if let Some(Obj::Class(_)) = vm.obj(kind) {
        let mut arguments = vec![generator, kind];
        if !value.is_unbound() {
            arguments.push(value);
        }
        return Err(vm.prelude_tail("_throw_class", arguments));
    }
    vm.enter_throw(args, generator, kind)
}

pub(super) fn generator_close(vm: &mut Vm, args: Args) -> Outcome {
    let [generator] = vm.take(args, "close", ["self"], 1)?;
    if let Some(Obj::Generator(info)) = vm.obj(generator)
        && info.frame.as_ref().is_none_or(|frame| frame.pc == 0)
        && !info.running
    {
        if let Some(Obj::Generator(info)) = generator.handle().map(|handle| vm.heap.get_mut(handle))
        {
            info.frame = None;
        }
        return Ok(Value::None);
    }
    let args_tuple = vm.tuple(Vec::new())?;
    let exit = vm.new_exception(Type::GeneratorExit.handle(), args_tuple)?;
    vm.entering = Some((generator, exit, true, After::Close));
    Err(Fault::Enter)
}

impl Vm {
    fn enter_generator(&mut self, _: Args, generator: Value, sent: Value) -> Outcome {
        self.entering = Some((generator, sent, false, After::Next(Value::Unbound)));
        Err(Fault::Enter)
    }

    fn enter_throw(&mut self, _: Args, generator: Value, exception: Value) -> Outcome {
        self.entering = Some((generator, exception, true, After::Next(Value::Unbound)));
        Err(Fault::Enter)
    }
}
