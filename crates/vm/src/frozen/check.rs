//! What the interpreter relies on, seen to before it runs what was read: frames stand where their code
//! waits, with as many operands as it has there; classes are classes, namespaces are dicts; nothing
//! that Rust follows by recursion is deep.

use super::ThawError;
use crate::code::Kind;
use crate::heap::object::{Class, Function, Generator, Iter, Obj};
use crate::heap::types::Type;
use crate::heap::value::{Handle, Value};
use crate::limits::INT_BITS_MAX;
use crate::run::Vm;

type Checked = Result<(), ThawError>;

fn sure(holds: bool, what: &'static str) -> Checked {
    if holds { Ok(()) } else { Err(ThawError::Malformed(what)) }
}

/// The call itself, and the globals that handlers are looked up in.
pub(super) fn roots(vm: &Vm, coroutine: Handle, main: Handle) -> Checked {
    let waits = match vm.heap.get(coroutine) {
        Obj::Generator(generator) => generator.kind == Kind::Coroutine && generator.frame.is_some(),
        _ => false,
    };
    sure(waits, "no call that waits")?;
    sure(is_dict(vm, main), "globals")
}

/// All objects that were read, the changed ones of the image among them.
pub(super) fn check(vm: &Vm, objects: &[Handle]) -> Checked {
    let touched: Vec<Handle> = vm.heap.touched().collect();
    for handle in objects.iter().chain(&touched) {
        object(vm, *handle)?;
    }
    Ok(())
}

fn is_dict(vm: &Vm, handle: Handle) -> bool {
    matches!(vm.heap.get(handle), Obj::Dict(_))
}

fn is_class(vm: &Vm, handle: Handle) -> bool {
    matches!(vm.heap.get(handle), Obj::Class(_))
}

fn object(vm: &Vm, handle: Handle) -> Checked {
    match vm.heap.get(handle) {
        Obj::Free => sure(false, "an object that is not there"),
        Obj::Big(big) => {
            let small = i64::try_from(big).is_ok();
            sure(!small && big.bits() <= INT_BITS_MAX, "an integer")
        }
        Obj::Range { step, .. } => sure(*step != 0, "a range"),
        Obj::Function(info) => function(vm, info),
        Obj::Class(info) => class(vm, handle, info),
        Obj::Instance(instance) => {
            sure(is_class(vm, instance.class), "an instance's class")?;
            sure(instance.dict.is_none_or(|dict| is_dict(vm, dict)), "attributes")?;
            let nested = matches!(vm.obj(instance.payload), Some(Obj::Instance(_)));
            sure(!nested, "an instance in an instance")
        }
        Obj::Exception(exception) => {
            sure(vm.is_subclass(exception.class, Type::BaseException.handle()), "an exception")?;
            let args = matches!(vm.obj(exception.args), Some(Obj::Tuple(_)));
            sure(args, "an exception's arguments")?;
            sure(exception.dict.is_none_or(|dict| is_dict(vm, dict)), "attributes")
        }
        Obj::Generator(info) => generator(vm, info),
        Obj::Iter(iter) => iterator(vm, iter),
        Obj::DictView { dict, .. } => sure(is_dict(vm, *dict), "a view"),
        Obj::Module { dict, .. } => sure(is_dict(vm, *dict), "a module"),
        Obj::Super { class, of, .. } => sure(is_class(vm, *class) && is_class(vm, *of), "super"),
        _ => Ok(()),
    }
}

fn function(vm: &Vm, function: &Function) -> Checked {
    let code = &vm.codes[function.code as usize].code;
    sure(is_dict(vm, function.globals), "a function's globals")?;
    let defaults = match vm.obj(function.defaults) {
        Some(Obj::Tuple(values)) => values.len(),
        _ => 0,
    };
    sure(defaults <= code.positional as usize, "defaults")?;
    let cells = match vm.obj(function.closure) {
        Some(Obj::Tuple(cells)) => {
            let all = cells.iter().all(|cell| matches!(vm.obj(*cell), Some(Obj::Cell(_))));
            sure(all, "a closure")?;
            cells.len()
        }
        _ => 0,
    };
    sure(cells == code.free as usize, "a closure")?;
    let noted = function.annotations;
    sure(noted.is_unbound() || matches!(vm.obj(noted), Some(Obj::Dict(_))), "annotations")?;
    sure(function.dict.is_none_or(|dict| is_dict(vm, dict)), "attributes")
}

fn class(vm: &Vm, handle: Handle, class: &Class) -> Checked {
    sure(class.mro.first() == Some(&handle), "a class's bases")?;
    let classes = class.mro.iter().chain(&class.bases).all(|base| is_class(vm, *base));
    sure(classes && is_class(vm, class.meta), "a class's bases")?;
    sure(is_dict(vm, class.dict), "a class's names")
}

fn generator(vm: &Vm, generator: &Generator) -> Checked {
    let Some(frame) = &generator.frame else { return Ok(()) };
    let code = &vm.codes[frame.code as usize].code;
    sure(!generator.running && code.kind == generator.kind, "a frame's code")?;
    sure(is_dict(vm, frame.globals), "a frame's globals")?;
    let exception = matches!(vm.obj(frame.handling), Some(Obj::Exception(_)));
    sure(frame.handling.is_unbound() || exception, "a frame's exception")?;
    let operands = if frame.pc == 0 {
        Some(0)
    } else {
        let place = code.yields.iter().find(|(pc, _)| *pc == frame.pc);
        place.map(|(_, operands)| *operands as usize)
    };
    let Some(operands) = operands else { return sure(false, "a frame's place") };
    sure(frame.slots.len() == code.slots as usize + operands, "a frame's values")
}

/// Enumerate and zip go over plain iterators only, so that a step in Rust nests once.
fn iterator(vm: &Vm, iter: &Iter) -> Checked {
    let plain = |value: &Value| match vm.obj(*value) {
        Some(Obj::Iter(inner)) => !matches!(**inner, Iter::Enumerate { .. } | Iter::Zip { .. }),
        _ => false,
    };
    let sequence = |value: Value| {
        matches!(
            vm.obj(value),
            Some(
                Obj::List(_)
                    | Obj::Tuple(_)
                    | Obj::Str(_)
                    | Obj::Bytes(_)
                    | Obj::ByteArray(_)
                    | Obj::Range { .. }
            )
        )
    };
    match iter {
        Iter::Sequence { source, .. } | Iter::Reversed { source, .. } => {
            sure(sequence(*source), "an iterator")
        }
        Iter::Dict { source, .. } => {
            sure(vm.table(*source).is_some() || vm.set(*source).is_some(), "an iterator")
        }
        Iter::Enumerate { inner, .. } => sure(plain(inner), "an iterator"),
        Iter::Zip { inner, .. } => sure(inner.iter().all(plain), "an iterator"),
        Iter::Range { .. } | Iter::Done => Ok(()),
    }
}
