//! Attributes that are set and deleted.

use super::Vm;
use super::fault::{Fatal, Fault, Outcome, tail_after};
use super::frame::After;
use crate::cost;
use crate::front::scope::mangle;
use crate::heap::object::Obj;
use crate::heap::types::{Type, name};
use crate::heap::value::{Handle, Value};
use crate::limits::{NAME_BYTES_MAX, QUALNAME_BYTES_MAX};

/// Names in the `__slots__` of one class.
const SLOTS_MAX: usize = 256;

impl Vm {
    pub(crate) fn set_attr(
        &mut self,
        object: Value,
        name: Value,
        value: Value,
    ) -> Result<(), Fault> {
        let Value::Ref(key) = name else { return Err(Fatal::Internal.into()) };
        if let Some(Obj::Class(class)) = self.obj(object) {
            let (dict, meta, builtin) = (class.dict, class.meta, class.builtin);
            if builtin {
                let kind = self.shown_name(class.name);
                return Err(
                    self.type_error(format!("cannot set attributes of built-in type '{kind}'"))
                );
            }
            if let Some(hook) = self.class_attr(meta, name::SETATTR)
                && !matches!(hook, Value::Native(_))
            {
                return Err(tail_after(hook, vec![object, name, value], After::Discard));
            }
            if matches!(key, name::NAME | name::QUALNAME)
                && self.text(value).is_some_and(|name| name.len() > NAME_BYTES_MAX)
            {
                return Err(self.long_name());
            }
            if key == name::NAME
                && let Some(Obj::Class(class)) = object.handle().map(|h| self.heap.get_mut(h))
            {
                class.name = value;
            }
            let value = match key {
                name::SLOTS => self.slot_names(value, None)?,
                _ => value,
            };
            self.class_version += 1;
            return self.dict_insert(dict, name, value);
        }
        let class = self.class_of(object);
        if let Some(hook) = self.class_attr(class, name::SETATTR)
            && !self.is_objects_own(hook, name::SETATTR)
        {
            return Err(tail_after(hook, vec![object, name, value], After::Discard));
        }
        self.generic_set_attr(object, class, key, value)
    }

    /// Whether a hook is the one that every object has; a program may put another native in its place, as in
    /// `__setattr__ = dict.__setitem__`.
    fn is_objects_own(&mut self, hook: Value, name: Handle) -> bool {
        matches!(hook, Value::Native(_))
            && self.class_attr(Type::Object.handle(), name).is_some_and(|own| own.is(hook))
    }

    /// `object.__setattr__`.
    pub(crate) fn generic_set_attr(
        &mut self,
        object: Value,
        class: Handle,
        key: Handle,
        value: Value,
    ) -> Result<(), Fault> {
        if let Some(found) = self.class_attr(class, key) {
            match self.obj(found) {
                Some(Obj::Property([_, setter, ..])) => {
                    let setter = *setter;
                    if setter.is_none() {
                        let attr = self.shown_name(key.into());
                        let kind = self.class_name(class);
                        return Err(self.raise(
                            Type::AttributeError,
                            format!("property '{attr}' of '{kind}' object has no setter"),
                        ));
                    }
                    return Err(tail_after(setter, vec![object, value], After::Discard));
                }
                Some(Obj::Instance(_)) => {
                    let owner = self.class_of(found);
                    if let Some(set) = self.class_attr(owner, name::SET) {
                        return Err(tail_after(set, vec![found, object, value], After::Discard));
                    }
                }
                _ => {}
            }
        }
        if self.set_special(object, class, key, value)? {
            return Ok(());
        }
        if self.class_attr(class, name::SLOTS).is_some() {
            self.charge(cost::many(self.slot_count(class)))?;
            if !self.has_slot(class, key) {
                return Err(self.no_attr(object, key));
            }
        }
        if class == Type::Object.handle() {
            return Err(self.no_attr(object, key));
        }
        match self.make_own_dict(object)? {
            Some(dict) => self.dict_insert(dict, key.into(), value),
            None => Err(self.no_attr(object, key)),
        }
    }

    /// Names that are looked through for an attribute of a class with slots.
    pub(super) fn slot_count(&self, class: Handle) -> usize {
        let Obj::Class(info) = self.heap.get(class) else { return 0 };
        let beyond = |steps| cost::many(steps) as usize;
        let count = |base: &Handle| {
            let Obj::Class(base) = self.heap.get(*base) else { return 0 };
            let (slots, steps) = self.name_in(base.dict, name::SLOTS);
            match slots.and_then(|slots| self.obj(slots)) {
                Some(Obj::Tuple(slots)) => slots.len() + beyond(steps),
                _ => beyond(steps),
            }
        };
        info.mro.iter().map(count).sum()
    }

    /// Whether instances of a class may have an attribute: if one of its bases says nothing about
    /// slots or has `__dict__` among them, any.
    pub(super) fn has_slot(&self, class: Handle, key: Handle) -> bool {
        let Obj::Class(info) = self.heap.get(class) else { return true };
        let mut bases = info.mro.iter().filter(|base| **base != Type::Object.handle());
        bases.any(|base| {
            let Obj::Class(base) = self.heap.get(*base) else { return true };
            if base.builtin && !base.layout.is_exception() {
                return false;
            }
            let slots = self.dict_get_name(base.dict, name::SLOTS);
            // Both are interned, see `slot_names`: no texts are compared.
            let is_key = |slot: &Value| slot.is(key.into()) || slot.is(name::DICT.into());
            match slots.map(|slots| (slots, self.obj(slots))) {
                Some((_, Some(Obj::Tuple(slots)))) => slots.iter().any(is_key),
                Some((slot, Some(Obj::Str(_)))) => is_key(&slot),
                _ => true,
            }
        })
    }

    /// What `__slots__` of a class is kept as: few short names, interned, as every attribute that is
    /// set looks through them. What only Python code can walk over says nothing.
    pub(crate) fn slot_names(&mut self, slots: Value, class: Option<&str>) -> Outcome {
        if let Some(name) = self.text(slots) {
            if name.len() > NAME_BYTES_MAX {
                return Err(self.long_name());
            }
            let name = mangle(class, name);
            return Ok(self.intern(&name)?.into());
        }
        let items = match self.obj(slots) {
            Some(Obj::Tuple(items)) if items.len() <= SLOTS_MAX => items.to_vec(),
            Some(Obj::List(items)) if items.len() <= SLOTS_MAX => items.clone(),
            _ => match self.plain_items(slots)? {
                Some(items) => items,
                None => return Ok(slots),
            },
        };
        if items.len() > SLOTS_MAX {
            return Err(self.type_error(format!("a class has at most {SLOTS_MAX} slots")));
        }
        self.charge(cost::many(items.len()) * 8)?;
        let mut names: Vec<Value> = Vec::with_capacity(items.len());
        for item in &items {
            let Some(name) = self.text(*item) else {
                let kind = self.type_name(*item);
                return Err(
                    self.type_error(format!("__slots__ items must be strings, not '{kind}'"))
                );
            };
            if name.len() > NAME_BYTES_MAX {
                return Err(self.long_name());
            }
            let name = mangle(class, name);
            self.charge(cost::long(name.len()))?;
            names.push(self.intern(&name)?.into());
        }
        Ok(self.heap.alloc(Obj::Tuple(names.into_boxed_slice()))?.into())
    }

    /// What the machine keeps beside an object's table, and relies on: it is what it must be, or refused.
    fn special_value(
        &mut self,
        object: Value,
        class: Handle,
        key: Handle,
        value: Value,
    ) -> Outcome {
        let kind = self.type_name(value);
        match (self.obj(object), key) {
            (Some(Obj::Exception(_)), name::ARGS) => {
                if matches!(self.obj(value), Some(Obj::Tuple(_))) {
                    return Ok(value);
                }
                let Some(items) = self.plain_items(value)? else {
                    return Err(self.type_error(format!("'{kind}' object is not iterable")));
                };
                self.tuple(items)
            }
            (Some(Obj::Exception(_)), name::CAUSE | name::CONTEXT) => {
                let known = value.is_none() || matches!(self.obj(value), Some(Obj::Exception(_)));
                if !known {
                    let message =
                        "exception cause must be None or derive from BaseException".to_owned();
                    return Err(self.type_error(message));
                }
                Ok(value)
            }
            (Some(Obj::Function(_)), name::NAME | name::QUALNAME) => match self.text(value) {
                None => Err(self.type_error("__name__ must be set to a string object")),
                Some(name) if name.len() > QUALNAME_BYTES_MAX => Err(self.long_name()),
                Some(_) => Ok(value),
            },
            (Some(Obj::Function(function)), name::DEFAULTS) => {
                let most = self.codes[function.code as usize].code.positional as usize;
                match self.obj(value) {
                    Some(Obj::Tuple(values)) if values.len() <= most => Ok(value),
                    None if value.is_none() => Ok(Value::Unbound),
                    Some(Obj::Tuple(_)) => {
                        Err(self.type_error("more defaults than there are parameters"))
                    }
                    _ => Err(self.type_error("__defaults__ must be set to a tuple object")),
                }
            }
            (Some(Obj::Function(_)), name::ANNOTATIONS) => match self.obj(value) {
                Some(Obj::Dict(_)) => Ok(value),
                None if value.is_none() => Ok(Value::Unbound),
                _ => Err(self.type_error("__annotations__ must be set to a dict object")),
            },
            (Some(Obj::Instance(_)), name::CLASS) => {
                let layout = self.class_info(class).map(|info| info.layout);
                match value.handle().and_then(|new| self.class_info(new)) {
                    Some(new) if !new.builtin && Some(new.layout) == layout => Ok(value),
                    Some(_) => Err(self.type_error("__class__ assignment: object layout differs")),
                    None => Err(self.type_error(format!(
                        "__class__ must be set to a class, not '{kind}' object"
                    ))),
                }
            }
            (Some(Obj::Instance(_)), name::DICT) => match self.obj(self.inner(value)) {
                Some(Obj::Dict(_)) => Ok(self.inner(value)),
                _ => Err(self
                    .type_error(format!("__dict__ must be set to a dictionary, not a '{kind}'"))),
            },
            _ => Ok(value),
        }
    }

    fn set_special(
        &mut self,
        object: Value,
        class: Handle,
        key: Handle,
        value: Value,
    ) -> Result<bool, Fault> {
        let Some(handle) = object.handle() else { return Ok(false) };
        let value = match key {
            name::ARGS
            | name::CAUSE
            | name::CONTEXT
            | name::NAME
            | name::QUALNAME
            | name::DEFAULTS
            | name::ANNOTATIONS
            | name::CLASS
            | name::DICT => self.special_value(object, class, key, value)?,
            _ => value,
        };
        match (self.heap.get_mut(handle), key) {
            (Obj::Exception(exception), name::ARGS) => exception.args = value,
            (Obj::Exception(exception), name::CAUSE) => {
                exception.cause = value;
                exception.suppress = true;
            }
            (Obj::Exception(exception), name::CONTEXT) => exception.context = value,
            (Obj::Exception(exception), name::SUPPRESS) => {
                exception.suppress = matches!(value, Value::Bool(true));
            }
            (Obj::Exception(_), name::TRACEBACK) => {}
            (Obj::Function(function), name::NAME) => function.name = value,
            (Obj::Function(function), name::QUALNAME) => function.qualname = value,
            (Obj::Function(function), name::DEFAULTS) => function.defaults = value,
            (Obj::Function(function), name::ANNOTATIONS) => function.annotations = value,
            (Obj::Instance(instance), name::CLASS) => match value {
                Value::Ref(class) => instance.class = class,
                _ => return Ok(false),
            },
            (Obj::Instance(instance), name::DICT) => instance.dict = value.handle(),
            _ => return Ok(false),
        }
        Ok(true)
    }

    pub(crate) fn delete_attr(&mut self, object: Value, name: Value) -> Result<(), Fault> {
        let Value::Ref(key) = name else { return Err(Fatal::Internal.into()) };
        if let Some(Obj::Class(class)) = self.obj(object) {
            let meta = class.meta;
            if let Some(hook) = self.class_attr(meta, name::DELATTR)
                && !matches!(hook, Value::Native(_))
            {
                return Err(tail_after(hook, vec![object, name], After::Discard));
            }
            return self.generic_delete_attr(object, key);
        }
        let class = self.class_of(object);
        if let Some(hook) = self.class_attr(class, name::DELATTR)
            && !self.is_objects_own(hook, name::DELATTR)
        {
            return Err(tail_after(hook, vec![object, name], After::Discard));
        }
        if let Some(found) = self.class_attr(class, key) {
            if let Some(Obj::Property([_, _, delete, _])) = self.obj(found) {
                if !delete.is_none() {
                    return Err(tail_after(*delete, vec![object], After::Discard));
                }
                let (attr, kind) = (self.shown_name(key.into()), self.class_name(class));
                let message = format!("property '{attr}' of '{kind}' object has no deleter");
                return Err(self.raise(Type::AttributeError, message));
            }
            if let Some(method) = self.user_method(found, name::DELETE) {
                return Err(tail_after(method, vec![found, object], After::Discard));
            }
        }
        self.generic_delete_attr(object, key)
    }

    pub(crate) fn generic_delete_attr(&mut self, object: Value, key: Handle) -> Result<(), Fault> {
        if let Some(Obj::Class(class)) = self.obj(object) {
            let (dict, builtin) = (class.dict, class.builtin);
            self.class_version += 1;
            if !builtin && self.dict_remove(dict, key.into())? {
                return Ok(());
            }
            return Err(self.no_attr(object, key));
        }
        if let Some(dict) = self.own_dict(object)
            && self.dict_remove(dict, key.into())?
        {
            return Ok(());
        }
        Err(self.no_attr(object, key))
    }
}
