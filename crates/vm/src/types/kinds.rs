//! `isinstance` and `issubclass`: classes, protocols, and abstract classes that were told of others.

use crate::cost;
use crate::heap::object::Obj;
use crate::heap::types::{Type, name};
use crate::heap::value::{Handle, Value};
use crate::run::Vm;
use crate::run::fault::{Fatal, Fault, Outcome, tail_after};
use crate::run::frame::After;
use crate::run::native::{Args, Table};

pub(crate) const TABLE: Table = &[
    ("", "isinstance", isinstance, "_isinstance"),
    ("", "issubclass", issubclass, "_issubclass"),
    ("_", "_class_is", plain_class_is, ""),
    ("type", "__instancecheck__", type_instancecheck, ""),
    ("type", "__subclasscheck__", type_subclasscheck, ""),
];

impl Vm {
    /// Whether a class, or a value of it, is one of `kinds`: a class, a tuple of them, or a class with a
    /// protocol. Hooks are for the fallbacks of `isinstance` and `issubclass`.
    fn class_is(&mut self, asked: Asked, kinds: Value, depth: usize) -> Result<bool, Fault> {
        self.charge(2)?;
        match self.obj(kinds) {
            Some(Obj::Tuple(items)) if depth < 20 => {
                let count = items.len();
                let Value::Ref(tuple) = kinds else { return Err(Fatal::Internal.into()) };
                // Each is looked for among the bases, and may have a protocol.
                self.charge(cost::many(count) * 32)?;
                for place in 0..count {
                    let kind = self.item_at(tuple, place).unwrap_or(Value::None);
                    if self.user_method(kind, name::INSTANCECHECK).is_some() {
                        return Err(Fault::Fallback);
                    }
                    if self.class_is(asked, kind, depth + 1)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Some(Obj::Class(info)) => {
                let own = !info.builtin && info.meta != Type::Type.handle();
                let Value::Ref(kind) = kinds else { return Err(Fatal::Internal.into()) };
                if self.is_subclass(asked.class, kind) {
                    return Ok(true);
                }
                if own && asked.hooks && self.class_attr(kind, name::SUBCLASSHOOK).is_some() {
                    return Err(Fault::Fallback);
                }
                Ok(self.has_protocol(asked, kind)?
                    || own && self.is_registered(asked.class, kind)?)
            }
            _ => {
                let (word, what) = match asked.value.is_unbound() {
                    true => ("issubclass", "class"),
                    false => ("isinstance", "type"),
                };
                let several = if what == "type" { "types" } else { "classes" };
                Err(self.type_error(format!(
                    "{word}() arg 2 must be a {what}, a tuple of {several}, or a union"
                )))
            }
        }
    }

    /// Classes like Iterable: a class with their methods is a subclass.
    fn has_protocol(&mut self, asked: Asked, kind: Handle) -> Result<bool, Fault> {
        let Some(info) = self.class_info(kind) else { return Ok(false) };
        let Some(methods) = self.dict_get_name(info.dict, name::PROTOCOL) else { return Ok(false) };
        if methods.is_none() {
            return Err(self.type_error(
                "Instance and class checks can only be used with @runtime_checkable protocols",
            ));
        }
        for method in self.plain_items(methods)?.unwrap_or_default() {
            let Value::Ref(method) = method else { return Ok(false) };
            self.charge(cost::CLASS_LOOKUP)?;
            // The machine calls these without looking for a method.
            let called = [Type::Function, Type::Native, Type::Method, Type::Type];
            if method == name::CALL && called.iter().any(|kind| kind.handle() == asked.class) {
                continue;
            }
            if self.class_attr(asked.class, method).is_some_and(|found| !found.is_none()) {
                continue;
            }
            let own = self.own_dict(asked.value);
            if own.is_none_or(|own| self.dict_get_name(own, method).is_none()) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether an abstract class was told that this one is one of its kind.
    pub(super) fn is_registered(&mut self, class: Handle, kind: Handle) -> Result<bool, Fault> {
        let Some(info) = self.class_info(kind) else { return Ok(false) };
        let Some(known) = self.dict_get_name(info.dict, name::REGISTRY) else { return Ok(false) };
        let known = self.plain_items(known)?.unwrap_or_default();
        self.charge(cost::many(known.len()) * 8)?;
        Ok(known.iter().filter_map(|one| one.handle()).any(|one| self.is_subclass(class, one)))
    }
}

/// What `isinstance` and `issubclass` are asked about.
#[derive(Clone, Copy)]
struct Asked {
    class: Handle,
    /// Unbound for `issubclass`.
    value: Value,
    /// Whether `__subclasshook__` is asked.
    hooks: bool,
}

fn isinstance(vm: &mut Vm, args: Args) -> Outcome {
    let [value, kinds] = vm.take(args, "isinstance", ["obj", "class"], 2)?;
    if let Some(hook) = vm.user_method(kinds, name::INSTANCECHECK) {
        return Err(tail_after(hook, vec![kinds, value], After::Contains { negate: false }));
    }
    let class = vm.class_of(value);
    vm.class_is(Asked { class, value, hooks: true }, kinds, 0).map(Value::Bool)
}

fn issubclass(vm: &mut Vm, args: Args) -> Outcome {
    let [class, kinds] = vm.take(args, "issubclass", ["cls", "class"], 2)?;
    if let Some(hook) = vm.user_method(kinds, name::SUBCLASSCHECK) {
        return Err(tail_after(hook, vec![kinds, class], After::Contains { negate: false }));
    }
    class_is_one_of(vm, class, kinds, true)
}

/// `type.__instancecheck__(cls, value)`: what `isinstance` says without a hook.
fn type_instancecheck(vm: &mut Vm, args: Args) -> Outcome {
    let [kind, value] = vm.take(args, "__instancecheck__", ["self", "instance"], 2)?;
    let class = vm.class_of(value);
    vm.class_is(Asked { class, value, hooks: false }, kind, 0).map(Value::Bool)
}

fn type_subclasscheck(vm: &mut Vm, args: Args) -> Outcome {
    let [kind, class] = vm.take(args, "__subclasscheck__", ["self", "subclass"], 2)?;
    class_is_one_of(vm, class, kind, false)
}

fn plain_class_is(vm: &mut Vm, args: Args) -> Outcome {
    let [class, kinds] = vm.take(args, "_class_is", ["cls", "class"], 2)?;
    class_is_one_of(vm, class, kinds, false)
}

fn class_is_one_of(vm: &mut Vm, class: Value, kinds: Value, hooks: bool) -> Outcome {
    match (class, vm.obj(class)) {
        (Value::Ref(class), Some(Obj::Class(_))) => {
            vm.class_is(Asked { class, value: Value::Unbound, hooks }, kinds, 0).map(Value::Bool)
        }
        _ => Err(vm.type_error("issubclass() arg 1 must be a class")),
    }
}
