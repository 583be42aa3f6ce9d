//! Methods of exceptions.

use crate::heap::object::Obj;
use crate::heap::types::{Type, name};
use crate::heap::value::{Handle, Value};
use crate::run::Vm;
use crate::run::fault::{Fatal, Fault, Outcome};
use crate::run::native::Args;

pub(super) fn exception_new(vm: &mut Vm, args: Args) -> Outcome {
    let count = args.count - args.keywords.map_or(0, |names| keyword_count(vm, names));
    let values = vm.stack[args.base..args.base + count].to_vec();
    let class = match values.split_first() {
        Some((Value::Ref(class), _)) if vm.is_subclass(*class, Type::BaseException.handle()) => {
            *class
        }
        _ => return Err(vm.type_error("BaseException.__new__(X): X is not a type of exceptions")),
    };
    let tuple = vm.tuple(values[1..].to_vec())?;
    vm.new_exception(class, tuple)
}

fn keyword_count(vm: &Vm, names: Handle) -> usize {
    match vm.heap.get(names) {
        Obj::Tuple(names) => names.len(),
        _ => 0,
    }
}

pub(super) fn exception_init(vm: &mut Vm, args: Args) -> Outcome {
    let count = args.count - args.keywords.map_or(0, |names| keyword_count(vm, names));
    let values = vm.stack[args.base..args.base + count].to_vec();
    vm.receiver(args, "BaseException.__init__")?;
    let Some((exception, rest)) = values.split_first() else { return Err(Fatal::Internal.into()) };
    if let Some(names) = args.keywords {
        let values = vm.stack[args.base + count..args.base + args.count].to_vec();
        keep_named(vm, *exception, names, values)?;
    }
    let tuple = vm.tuple(rest.to_vec())?;
    if let Some(Obj::Exception(exception)) =
        exception.handle().map(|handle| vm.heap.get_mut(handle))
    {
        exception.args = tuple;
    }
    Ok(Value::None)
}

/// Keywords of some exceptions; all others take none.
fn keep_named(
    vm: &mut Vm,
    exception: Value,
    names: Handle,
    values: Vec<Value>,
) -> Result<(), Fault> {
    for (name, value) in vm.items(names.into())?.into_iter().zip(values) {
        let kinds: &[Type] = match vm.text(name) {
            Some("name") => &[Type::NameError, Type::AttributeError, Type::ImportError],
            Some("obj") => &[Type::AttributeError],
            Some("path") => &[Type::ImportError],
            _ => &[],
        };
        if !kinds.iter().any(|kind| vm.is_exception_of(exception, *kind)) {
            let kind = vm.type_name(exception);
            return Err(vm.type_error(format!("{kind}() takes no keyword arguments")));
        }
        if let (Some(dict), Value::Ref(name)) = (vm.make_own_dict(exception)?, name) {
            vm.dict_set_name(dict, name, value)?;
        }
    }
    Ok(())
}

pub(super) fn with_traceback(vm: &mut Vm, args: Args) -> Outcome {
    let [exception, _] = vm.take(args, "with_traceback", ["self", "tb"], 2)?;
    Ok(exception)
}

pub(super) fn add_note(vm: &mut Vm, args: Args) -> Outcome {
    let [exception, note] = vm.take(args, "add_note", ["self", "note"], 2)?;
    let Some(dict) = vm.make_own_dict(exception)? else {
        return Err(vm.type_error("an exception is needed"));
    };
    let notes = match vm.dict_get_name(dict, name::NOTES) {
        Some(notes) => notes,
        None => {
            let notes = vm.list(Vec::new())?;
            vm.dict_set_name(dict, name::NOTES, notes)?;
            notes
        }
    };
    vm.list_push(notes, note)?;
    Ok(Value::None)
}
