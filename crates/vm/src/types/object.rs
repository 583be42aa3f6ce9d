//! object, type, descriptors and super; the names of exceptions' and generators' methods.

use crate::heap::object::Obj;
use crate::heap::types::{Type, name};
use crate::heap::value::{Handle, Value};
use crate::run::Vm;
use crate::run::fault::{Fault, Outcome, tail};
use crate::run::native::{Args, Table};

use super::builtins::done;
use super::exceptions::{add_note, exception_init, exception_new, with_traceback};
use super::generators::{
    generator_close, generator_next, generator_send, generator_throw, identity,
};

pub(crate) const TABLE: Table = &[
    ("object", "__new__", object_new, ""),
    ("object", "__init__", object_init, ""),
    ("object", "__repr__", default_repr, "_repr"),
    ("object", "__str__", default_str, "_repr"),
    ("object", "__format__", default_format, "_format"),
    ("object", "__eq__", object_eq, ""),
    ("object", "__ne__", object_ne, ""),
    ("object", "__hash__", object_hash, ""),
    ("object", "__setattr__", object_setattr, ""),
    ("object", "__delattr__", object_delattr, ""),
    ("object", "__init_subclass__", init_subclass, ""),
    ("object", "__getattribute__", object_getattribute, ""),
    ("type", "__new__", type_new, "_type_new"),
    ("type", "__init__", type_init, ""),
    ("type", "__call__", type_call, ""),
    ("type", "mro", type_mro, ""),
    ("property", "__new__", property_new, ""),
    ("property", "getter", property_getter, ""),
    ("property", "setter", property_setter, ""),
    ("property", "deleter", property_deleter, ""),
    ("classmethod", "__new__", classmethod_new, ""),
    ("staticmethod", "__new__", staticmethod_new, ""),
    ("super", "__new__", super_new, ""),
    ("method", "__new__", method_new, ""),
    ("BaseException", "__new__", exception_new, ""),
    ("BaseException", "__init__", exception_init, ""),
    ("BaseException", "with_traceback", with_traceback, ""),
    ("BaseException", "add_note", add_note, ""),
    ("generator", "send", generator_send, ""),
    ("generator", "throw", generator_throw, ""),
    ("generator", "close", generator_close, ""),
    ("generator", "__next__", generator_next, ""),
    ("generator", "__iter__", identity, ""),
    ("coroutine", "send", generator_send, ""),
    ("coroutine", "throw", generator_throw, ""),
    ("coroutine", "close", generator_close, ""),
    ("_", "_generator_next", generator_next, ""),
    ("_", "_generator_send", generator_send, ""),
    ("_", "_generator_throw", generator_throw, ""),
];

fn object_new(vm: &mut Vm, args: Args) -> Outcome {
    let class = vm.receiver(args, "object.__new__")?;
    let Value::Ref(handle) = class else {
        return Err(vm.type_error("object.__new__(X): X is not a type"));
    };
    let Some(info) = vm.class_info(handle) else {
        return Err(vm.type_error("object.__new__(X): X is not a type object"));
    };
    let layout = info.layout;
    if layout.is_exception() {
        let args = vm.tuple(Vec::new())?;
        return vm.new_exception(handle, args);
    }
    if handle == Type::Object.handle() && args.count > 1 {
        return Err(vm.type_error("object() takes no arguments"));
    }
    if let Some(missing) = vm.class_attr(handle, name::ABSTRACT)
        && vm.length(missing)? > 0
    {
        return Err(vm.abstract_error(handle, missing));
    }
    vm.new_instance(handle, Value::Unbound)
}

fn object_init(_: &mut Vm, _: Args) -> Outcome {
    Ok(Value::None)
}

fn default_repr(vm: &mut Vm, args: Args) -> Outcome {
    let [value] = vm.take(args, "__repr__", ["self"], 1)?;
    // Called on purpose by a program's own __repr__: never that one again.
    let text = match vm.obj(value) {
        Some(Obj::Instance(instance)) if !instance.payload.is_unbound() => {
            let payload = instance.payload;
            match vm.repr(payload) {
                Err(Fault::Fallback) => return Err(vm.prelude_tail("_repr", vec![payload])),
                text => text?,
            }
        }
        Some(Obj::Instance(_)) => {
            let class = vm.class_of(value);
            format!("<{} object>", vm.dotted_name(class))
        }
        Some(Obj::Exception(exception)) => {
            let args = exception.args;
            let inner = vm.repr(args)?;
            let inner = inner.strip_suffix(",)").map_or(inner.clone(), |cut| format!("{cut})"));
            format!("{}{inner}", vm.type_name(value))
        }
        _ => vm.repr(value)?,
    };
    vm.string(text)
}

fn default_str(vm: &mut Vm, args: Args) -> Outcome {
    let [value] = vm.take(args, "__str__", ["self"], 1)?;
    match vm.obj(value) {
        Some(Obj::Instance(instance)) if !instance.payload.is_unbound() => {
            let payload = instance.payload;
            vm.text_of(payload)
        }
        Some(Obj::Instance(_)) => match vm.user_method(value, name::REPR) {
            Some(method) => Err(tail(method, vec![value])),
            None => default_repr(vm, args),
        },
        Some(Obj::Exception(exception)) => {
            let args = exception.args;
            let items = vm.plain_items(args)?.unwrap_or_default();
            match items.as_slice() {
                [] => vm.string(""),
                [one] if !vm.is_exception_of(value, Type::KeyError) => vm.text_of(*one),
                [one] => {
                    let text = vm.repr(*one)?;
                    vm.string(text)
                }
                _ => {
                    let text = vm.repr(args)?;
                    vm.string(text)
                }
            }
        }
        _ => vm.text_of(value),
    }
}

fn default_format(vm: &mut Vm, args: Args) -> Outcome {
    let [value, spec] = vm.take(args, "__format__", ["self", "spec"], 2)?;
    let inner = vm.inner(value);
    if !inner.is(value) {
        return vm.format_value(inner, spec);
    }
    if !matches!(vm.obj(value), Some(Obj::Instance(_) | Obj::Exception(_) | Obj::Class(_))) {
        return vm.format_value(value, spec);
    }
    if vm.length(spec)? > 0 {
        let kind = vm.type_name(value);
        let message = format!("unsupported format string passed to {kind}.__format__");
        return Err(vm.type_error(message));
    }
    vm.text_of(value)
}

fn object_eq(vm: &mut Vm, args: Args) -> Outcome {
    let [a, b] = vm.take(args, "__eq__", ["self", "other"], 2)?;
    let (x, y) = (vm.inner(a), vm.inner(b));
    if matches!(vm.obj(x), Some(Obj::Instance(_) | Obj::Class(_) | Obj::Exception(_))) {
        return Ok(if x.is(y) { Value::Bool(true) } else { Value::NotImplemented });
    }
    vm.compare(crate::code::CmpOp::Eq, x, y)
}

fn object_ne(vm: &mut Vm, args: Args) -> Outcome {
    let [a, b] = vm.take(args, "__ne__", ["self", "other"], 2)?;
    vm.compare(crate::code::CmpOp::Ne, vm.inner(a), vm.inner(b))
}

fn object_hash(vm: &mut Vm, args: Args) -> Outcome {
    let [value] = vm.take(args, "__hash__", ["self"], 1)?;
    let hash = match vm.obj(value) {
        Some(Obj::Instance(instance)) if instance.payload.is_unbound() => {
            (crate::heap::dict::mix(instance.serial) >> 3) as i64
        }
        _ => vm.hash(vm.inner(value), 0)? as i64,
    };
    Ok(Value::Int(hash))
}

fn object_setattr(vm: &mut Vm, args: Args) -> Outcome {
    let [object, key, value] = vm.take(args, "__setattr__", ["self", "name", "value"], 3)?;
    let text = vm.want_text(key, "attribute name")?;
    let key = vm.intern(&text)?;
    if let Some(Obj::Class(class)) = vm.obj(object) {
        let (dict, builtin) = (class.dict, class.builtin);
        if builtin {
            return Err(vm.type_error("cannot set attributes of a built-in type"));
        }
        let value = if key == name::SLOTS { vm.slot_names(value, None)? } else { value };
        vm.class_version += 1;
        vm.dict_set_name(dict, key, value)?;
        return Ok(Value::None);
    }
    let class = vm.class_of(object);
    done(vm.generic_set_attr(object, class, key, value))
}

fn object_delattr(vm: &mut Vm, args: Args) -> Outcome {
    let [object, key] = vm.take(args, "__delattr__", ["self", "name"], 2)?;
    let text = vm.want_text(key, "attribute name")?;
    let key = vm.intern(&text)?;
    done(vm.generic_delete_attr(object, key))
}

fn object_getattribute(vm: &mut Vm, args: Args) -> Outcome {
    let [object, key] = vm.take(args, "__getattribute__", ["self", "name"], 2)?;
    let text = vm.want_text(key, "attribute name")?;
    let key = vm.intern(&text)?;
    let class = vm.class_of(object);
    vm.generic_attr(object, class, key)
}

fn init_subclass(vm: &mut Vm, args: Args) -> Outcome {
    if args.keywords.is_some() {
        return Err(vm.type_error("__init_subclass__() takes no keyword arguments"));
    }
    Ok(Value::None)
}

fn type_new(vm: &mut Vm, args: Args) -> Outcome {
    let values = vm.stack[args.base..args.base + args.count].to_vec();
    match values.as_slice() {
        [_, value] => Ok(vm.class_of(*value).into()),
        [_, _, _, _, ..] => Err(Fault::Fallback),
        _ => Err(vm.type_error("type() takes 1 or 3 arguments")),
    }
}

fn type_init(_: &mut Vm, _: Args) -> Outcome {
    Ok(Value::None)
}

/// `type.__call__(cls, ...)`: what calling a class does without its metaclass's own `__call__`.
fn type_call(vm: &mut Vm, args: Args) -> Outcome {
    if args.keywords.is_some() {
        return Err(Fault::Fallback);
    }
    let values = vm.positional(args, "__call__")?;
    let construct = vm.prelude_function("_construct")?;
    Err(tail(construct, values))
}

fn type_mro(vm: &mut Vm, args: Args) -> Outcome {
    let [class] = vm.take(args, "mro", ["self"], 1)?;
    let mro = vm.get_attr(class, name::MRO.into())?;
    let items = vm.items(mro)?;
    vm.list(items)
}

fn none(value: Value) -> Value {
    if value.is_unbound() { Value::None } else { value }
}

fn property_new(vm: &mut Vm, args: Args) -> Outcome {
    let [_, get, set, delete, doc] =
        vm.take(args, "property", ["cls", "fget", "fset", "fdel", "doc"], 1)?;
    vm.alloc(Obj::Property([none(get), none(set), none(delete), none(doc)]))
}

fn property_with(vm: &mut Vm, args: Args, place: usize) -> Outcome {
    let [property, function] = vm.take(args, "property", ["self", "function"], 2)?;
    let Some(Obj::Property(parts)) = vm.obj(vm.inner(property)) else {
        return Err(vm.type_error("a property is needed"));
    };
    let mut parts = *parts;
    parts[place] = function;
    vm.alloc(Obj::Property(parts))
}

fn property_getter(vm: &mut Vm, args: Args) -> Outcome {
    property_with(vm, args, 0)
}

fn property_setter(vm: &mut Vm, args: Args) -> Outcome {
    property_with(vm, args, 1)
}

fn property_deleter(vm: &mut Vm, args: Args) -> Outcome {
    property_with(vm, args, 2)
}

fn classmethod_new(vm: &mut Vm, args: Args) -> Outcome {
    let [_, function] = vm.take(args, "classmethod", ["cls", "function"], 2)?;
    vm.alloc(Obj::ClassMethod(function))
}

fn staticmethod_new(vm: &mut Vm, args: Args) -> Outcome {
    let [_, function] = vm.take(args, "staticmethod", ["cls", "function"], 2)?;
    vm.alloc(Obj::StaticMethod(function))
}

/// `types.MethodType(function, receiver)`.
fn method_new(vm: &mut Vm, args: Args) -> Outcome {
    let [_, function, receiver] = vm.take(args, "method", ["cls", "function", "instance"], 3)?;
    if !vm.is_callable(function) {
        return Err(vm.type_error("first argument must be callable"));
    }
    vm.alloc(Obj::Method { function, receiver })
}

fn super_new(vm: &mut Vm, args: Args) -> Outcome {
    let [_, class, receiver] = vm.take(args, "super", ["cls", "type", "obj"], 3)?;
    let Value::Ref(class) = class else {
        return Err(vm.type_error("super() argument 1 must be a type"));
    };
    // A class method's receiver is a class; a metaclass's, too, but then its own class counts.
    let of: Handle = match (receiver, vm.obj(receiver)) {
        (Value::Ref(handle), Some(Obj::Class(_))) if vm.is_subclass(handle, class) => handle,
        _ => vm.class_of(receiver),
    };
    if !vm.is_subclass(of, class) {
        return Err(vm.type_error("super(type, obj): obj must be an instance or subtype of type"));
    }
    vm.alloc(Obj::Super { class, receiver, of })
}
