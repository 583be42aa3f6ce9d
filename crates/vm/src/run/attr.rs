//! Attributes: classes and their bases, instances, descriptors, hooks.

use super::Vm;
use super::fault::{Fatal, Fault, Outcome, tail, tail_after};
use super::frame::After;
use super::{Lookup, native};
use crate::code::Kind;
use crate::cost;
use crate::heap::dict::Dict;
use crate::heap::object::{Iter, Obj, View};
use crate::heap::types::{Type, name};
use crate::heap::value::{Handle, Value};

impl Vm {
    /// The class object of a value.
    #[inline]
    pub(crate) fn class_of(&self, value: Value) -> Handle {
        let builtin = match value {
            Value::Unbound | Value::None => Type::NoneType,
            Value::NotImplemented => Type::NotImplementedType,
            Value::Ellipsis => Type::EllipsisType,
            Value::Bool(_) => Type::Bool,
            Value::Int(_) => Type::Int,
            Value::Float(_) => Type::Float,
            Value::Native(_) => Type::Native,
            Value::Ref(handle) => match self.heap.get(handle) {
                Obj::Instance(instance) => return instance.class,
                Obj::Exception(exception) => return exception.class,
                Obj::Class(class) => return class.meta,
                other => type_of(other),
            },
        };
        builtin.handle()
    }

    pub(crate) fn class_name(&self, class: Handle) -> String {
        match self.heap.get(class) {
            Obj::Class(class) => self.shown_name(class.name),
            _ => String::new(),
        }
    }

    pub(crate) fn type_name(&self, value: Value) -> String {
        self.class_name(self.class_of(value))
    }

    /// Looks a name up along a class's bases.
    #[inline]
    pub(crate) fn class_attr(&mut self, class: Handle, name: Handle) -> Option<Value> {
        let at = (class.0.wrapping_mul(0x9e37_79b1) ^ name.0.wrapping_mul(0x85eb_ca6b)) as usize
            % self.lookups.len();
        let known = self.lookups[at];
        if known.class == class && known.name == name && known.version == self.class_version {
            if known.price > 0 {
                self.spend(known.price.into());
            }
            return Some(known.value).filter(|value| !value.is_unbound());
        }
        let (found, price) = self.class_attr_slow(class, name);
        if price > 0 {
            self.spend(price.into());
        }
        self.lookups[at] = Lookup {
            class,
            name,
            version: self.class_version,
            price,
            value: found.unwrap_or(Value::Unbound),
        };
        found
    }

    /// The value, and what finding it takes beyond the usual.
    fn class_attr_slow(&self, class: Handle, name: Handle) -> (Option<Value>, u32) {
        let Obj::Class(info) = self.heap.get(class) else { return (None, 0) };
        let (found, price) = self.along(info.mro.iter().copied(), name);
        (found, u32::try_from(price).unwrap_or(u32::MAX))
    }

    /// The first of some classes that has a name, and what the search costs.
    fn along(&self, classes: impl Iterator<Item = Handle>, name: Handle) -> (Option<Value>, u64) {
        let mut price = 0;
        for (walked, base) in classes.enumerate() {
            let Obj::Class(base) = self.heap.get(base) else { continue };
            let (found, probes) = self.name_in(base.dict, name);
            if walked >= cost::COVERED_BASES {
                price += cost::BASE;
            }
            price += cost::probes(probes);
            if found.is_some() {
                return (found, price);
            }
        }
        (None, price)
    }

    /// A special method that the program wrote in Python; natives of builtin types do not count.
    pub(crate) fn user_method(&mut self, value: Value, name: Handle) -> Option<Value> {
        match self.obj(value) {
            Some(Obj::Instance(_) | Obj::Exception(_) | Obj::Class(_)) => {}
            _ => return None,
        }
        let class = self.class_of(value);
        self.class_attr(class, name).filter(|found| !matches!(found, Value::Native(_)))
    }

    pub(crate) fn bind_method(&mut self, function: Value, receiver: Value) -> Outcome {
        match self.obj(function) {
            Some(Obj::Function(_)) => self.alloc(Obj::Method { function, receiver }),
            Some(Obj::StaticMethod(inner)) => Ok(*inner),
            Some(Obj::ClassMethod(inner)) => {
                let function = *inner;
                let class = match self.obj(receiver) {
                    Some(Obj::Class(_)) => receiver,
                    _ => self.class_of(receiver).into(),
                };
                self.alloc(Obj::Method { function, receiver: class })
            }
            Some(Obj::Property([getter, ..])) => {
                let getter = *getter;
                if getter.is_none() {
                    return Err(self.raise(Type::AttributeError, "property has no getter"));
                }
                Err(tail_after(getter, vec![receiver], After::Push))
            }
            Some(Obj::Instance(_)) => {
                let class = self.class_of(function);
                match self.class_attr(class, name::GET) {
                    Some(get) => {
                        let owner = self.class_of(receiver);
                        Err(tail(get, vec![function, receiver, owner.into()]))
                    }
                    None => Ok(function),
                }
            }
            _ => match function {
                Value::Native(id) if !native::is_static(id) => {
                    self.alloc(Obj::Method { function, receiver })
                }
                other => Ok(other),
            },
        }
    }

    fn is_data_descriptor(&mut self, value: Value) -> bool {
        match self.obj(value) {
            Some(Obj::Property(_)) => true,
            Some(Obj::Instance(_)) => {
                let class = self.class_of(value);
                self.class_attr(class, name::SET).is_some()
            }
            _ => false,
        }
    }

    pub(crate) fn own_dict(&self, object: Value) -> Option<Handle> {
        match self.obj(object)? {
            Obj::Instance(instance) => instance.dict,
            Obj::Exception(exception) => exception.dict,
            Obj::Function(function) => function.dict,
            Obj::Module { dict, .. } => Some(*dict),
            _ => None,
        }
    }

    pub(crate) fn get_attr(&mut self, object: Value, name: Value) -> Outcome {
        let Value::Ref(key) = name else { return Err(Fatal::Internal.into()) };
        let is_class = matches!(self.obj(object), Some(Obj::Class(_)));
        if is_class {
            return self.class_get_attr(object, key);
        }
        if let Some(Obj::Super { class, receiver, of }) = self.obj(object) {
            let (class, receiver, of) = (*class, *receiver, *of);
            return self.super_attr(class, receiver, of, key);
        }
        let class = self.class_of(object);
        if let Some(hook) = self.class_attr(class, name::GETATTRIBUTE)
            && !matches!(hook, Value::Native(_))
        {
            return Err(tail_after(hook, vec![object, name], After::GetAttr(object, name)));
        }
        self.generic_attr(object, class, key)
    }

    pub(crate) fn generic_attr(&mut self, object: Value, class: Handle, key: Handle) -> Outcome {
        let in_class = self.class_attr(class, key);
        if let Some(found) = in_class
            && self.is_data_descriptor(found)
        {
            return match self.bind_method(found, object) {
                Err(Fault::Tail(mut call)) if self.has_getattr(class) => {
                    call.after = After::GetAttr(object, key.into());
                    Err(Fault::Tail(call))
                }
                other => other,
            };
        }
        if let Some(dict) = self.own_dict(object)
            && let Some(value) = self.dict_get_name(dict, key)
        {
            return Ok(value);
        }
        if let Some(found) = in_class {
            return self.bind_method(found, object);
        }
        if let Some(value) = self.special_attr(object, key)? {
            return Ok(value);
        }
        if let Some(hook) = self.class_attr(class, name::GETATTR) {
            return Err(tail(hook, vec![object, key.into()]));
        }
        // A module may compute names on access (`__getattr__`).
        if let Some(Obj::Module { dict, .. }) = self.obj(object)
            && let Some(hook) = self.dict_get_name(*dict, name::GETATTR)
        {
            return Err(tail(hook, vec![key.into()]));
        }
        Err(self.no_attr(object, key))
    }

    fn has_getattr(&mut self, class: Handle) -> bool {
        self.class_attr(class, name::GETATTR).is_some()
    }

    pub(super) fn no_attr(&mut self, object: Value, key: Handle) -> Fault {
        let attr = self.shown_name(key.into());
        let message = match self.obj(object) {
            Some(Obj::Class(class)) => {
                let class = self.shown_name(class.name);
                format!("type object '{class}' has no attribute '{attr}'")
            }
            Some(Obj::Module { name, .. }) => {
                let module = self.shown_name(*name);
                format!("module '{module}' has no attribute '{attr}'")
            }
            _ => format!("'{}' object has no attribute '{attr}'", self.type_name(object)),
        };
        self.raise(Type::AttributeError, message)
    }

    fn class_get_attr(&mut self, object: Value, key: Handle) -> Outcome {
        let Value::Ref(class) = object else { return Err(Fatal::Internal.into()) };
        let meta = self.class_of(object);
        if meta != Type::Type.handle()
            && let Some(found) = self.class_attr(meta, key)
            && self.is_data_descriptor(found)
        {
            return self.bind_method(found, object);
        }
        if let Some(value) = self.class_special(object, class, key)? {
            return Ok(value);
        }
        if let Some(found) = self.class_attr(class, key) {
            return match self.obj(found) {
                Some(Obj::ClassMethod(_)) => self.bind_method(found, object),
                Some(Obj::StaticMethod(inner)) => Ok(*inner),
                Some(Obj::Instance(_)) => {
                    let owner = self.class_of(found);
                    match self.class_attr(owner, name::GET) {
                        Some(get) => Err(tail(get, vec![found, Value::None, object])),
                        None => Ok(found),
                    }
                }
                _ => Ok(found),
            };
        }
        if let Some(found) = self.class_attr(meta, key) {
            return self.bind_method(found, object);
        }
        if let Some(hook) = self.class_attr(meta, name::GETATTR) {
            return Err(tail(hook, vec![object, key.into()]));
        }
        Err(self.no_attr(object, key))
    }

    pub(crate) fn copy_dict(&mut self, dict: Handle) -> Outcome {
        let copy = match self.heap.get(dict) {
            Obj::Dict(table) => table.clone(),
            _ => return Err(Fatal::Internal.into()),
        };
        self.charge(cost::entries(copy.places()))?;
        self.heap.check(copy.size())?;
        self.alloc(Obj::Dict(copy))
    }

    fn super_attr(&mut self, class: Handle, receiver: Value, of: Handle, key: Handle) -> Outcome {
        let Obj::Class(info) = self.heap.get(of) else { return Err(Fatal::Internal.into()) };
        let bases = info.mro.len();
        self.charge(cost::many(bases) * 2)?;
        let Obj::Class(info) = self.heap.get(of) else { return Err(Fatal::Internal.into()) };
        let after = info.mro.iter().skip_while(|base| **base != class).skip(1);
        let (found, cycles) = self.along(after.copied(), key);
        self.charge(cycles)?;
        let Some(found) = found else {
            let attr = self.shown_name(key.into());
            let message = format!("'super' object has no attribute '{attr}'");
            return Err(self.raise(Type::AttributeError, message));
        };
        self.bind_method(found, receiver)
    }

    /// What lies below a receiver in `super(...)`: for methods that are called at once.
    pub(crate) fn load_method(
        &mut self,
        object: Value,
        name: Value,
    ) -> Result<(Value, bool), Fault> {
        let Value::Ref(key) = name else { return Err(Fatal::Internal.into()) };
        let plain = !matches!(
            self.obj(object),
            Some(Obj::Class(_) | Obj::Super { .. } | Obj::Module { .. } | Obj::Function(_))
        );
        if plain {
            let class = self.class_of(object);
            if let Some(found) = self.class_attr(class, key) {
                let method = match found {
                    Value::Native(id) => !native::is_static(id),
                    other => matches!(self.obj(other), Some(Obj::Function(_))),
                };
                let shadowed = self
                    .own_dict(object)
                    .is_some_and(|dict| self.dict_get_name(dict, key).is_some());
                let hook = self.class_attr(class, name::GETATTRIBUTE);
                let plain = hook.is_none_or(|hook| matches!(hook, Value::Native(_)));
                if method && !shadowed && plain {
                    return Ok((found, true));
                }
            }
        }
        self.get_attr(object, name).map(|value| (value, false))
    }

    /// The dict of an object's own attributes, made if need be.
    pub(crate) fn make_own_dict(&mut self, object: Value) -> Result<Option<Handle>, Fault> {
        if let Some(dict) = self.own_dict(object) {
            return Ok(Some(dict));
        }
        if !matches!(
            self.obj(object),
            Some(Obj::Instance(_) | Obj::Exception(_) | Obj::Function(_))
        ) {
            return Ok(None);
        }
        let dict = self.alloc(Obj::Dict(Dict::default()))?.handle();
        match object.handle().map(|handle| self.heap.get_mut(handle)) {
            Some(Obj::Instance(instance)) => instance.dict = dict,
            Some(Obj::Exception(exception)) => exception.dict = dict,
            Some(Obj::Function(function)) => function.dict = dict,
            _ => {}
        }
        Ok(dict)
    }
}

fn type_of(obj: &Obj) -> Type {
    match obj {
        Obj::Str(_) => Type::Str,
        Obj::Big(_) => Type::Int,
        Obj::Bytes(_) => Type::Bytes,
        Obj::ByteArray(_) => Type::ByteArray,
        Obj::List(_) => Type::List,
        Obj::Tuple(_) => Type::Tuple,
        Obj::Dict(_) => Type::Dict,
        Obj::Set(_) => Type::Set,
        Obj::FrozenSet(_) => Type::FrozenSet,
        Obj::Range { .. } => Type::Range,
        Obj::Slice(_) => Type::Slice,
        Obj::Function(_) => Type::Function,
        Obj::Method { .. } => Type::Method,
        Obj::Cell(_) => Type::Cell,
        Obj::Generator(generator) => match generator.kind {
            Kind::Coroutine => Type::Coroutine,
            Kind::AsyncGenerator => Type::AsyncGenerator,
            _ => Type::Generator,
        },
        Obj::Iter(iter) => match &**iter {
            Iter::Enumerate { .. } => Type::Enumerate,
            Iter::Zip { .. } => Type::Zip,
            Iter::Reversed { .. } => Type::Reversed,
            _ => Type::Iterator,
        },
        Obj::DictView { view, .. } => match view {
            View::Keys => Type::DictKeys,
            View::Values => Type::DictValues,
            View::Items => Type::DictItems,
        },
        Obj::Module { .. } => Type::Module,
        Obj::Property(_) => Type::Property,
        Obj::StaticMethod(_) => Type::StaticMethod,
        Obj::ClassMethod(_) => Type::ClassMethod,
        Obj::Super { .. } => Type::Super,
        Obj::Pending(_) | Obj::PendingAny(_) => Type::Pending,
        Obj::Free | Obj::Instance(_) | Obj::Exception(_) | Obj::Class(_) => Type::Object,
    }
}
