//! Attributes that the machine itself knows: of classes, functions, exceptions, numbers.

use super::Vm;
use super::fault::{Fatal, Fault, Outcome};
use super::native;
use crate::heap::dict::Dict;
use crate::heap::object::Obj;
use crate::heap::types::{Type, name};
use crate::heap::value::{Handle, Value};

/// Methods of methods that are looked through for an attribute.
const BEHIND_MAX: usize = 64;

impl Vm {
    pub(super) fn class_special(
        &mut self,
        object: Value,
        class: Handle,
        key: Handle,
    ) -> Result<Option<Value>, Fault> {
        let Obj::Class(info) = self.heap.get(class) else { return Ok(None) };
        Ok(Some(match key {
            name::NAME => info.name,
            name::QUALNAME => self.dict_get_name(info.dict, name::QUALNAME).unwrap_or(info.name),
            name::CLASS => info.meta.into(),
            name::DOC => self.dict_get_name(info.dict, name::DOC).unwrap_or(Value::None),
            name::MODULE => match self.dict_get_name(info.dict, name::MODULE) {
                Some(module) => module,
                None if info.builtin => self.intern("builtins")?.into(),
                None => name::MAIN.into(),
            },
            name::MRO => {
                let items = info.mro.iter().map(|base| Value::Ref(*base)).collect();
                self.tuple(items)?
            }
            name::BASES => {
                let items = info.bases.iter().map(|base| Value::Ref(*base)).collect();
                self.tuple(items)?
            }
            name::DICT => {
                let dict = info.dict;
                return self.copy_dict(dict).map(Some);
            }
            name::ANNOTATIONS => match self.dict_get_name(info.dict, key) {
                Some(found) => found,
                None => self.alloc(Obj::Dict(Dict::default()))?,
            },
            _ => {
                let _ = object;
                return Ok(None);
            }
        }))
    }

    /// Attributes that are not in any table.
    pub(super) fn special_attr(
        &mut self,
        object: Value,
        key: Handle,
    ) -> Result<Option<Value>, Fault> {
        if key == name::CLASS {
            return Ok(Some(self.class_of(object).into()));
        }
        if key == name::DICT {
            let class = self.class_of(object);
            if self.class_attr(class, name::SLOTS).is_some() {
                self.charge(crate::cost::many(self.slot_count(class)))?;
                if !self.has_slot(class, key) {
                    return Ok(None);
                }
            }
            return self.make_own_dict(object).map(|dict| dict.map(Value::Ref));
        }
        if key == name::MODULE {
            return Ok(Some(name::MAIN.into()));
        }
        let codes = std::sync::Arc::clone(&self.codes);
        let found = match self.obj(object) {
            Some(Obj::Exception(exception)) => match key {
                name::ARGS => exception.args,
                name::CAUSE => none_if_unbound(exception.cause),
                name::CONTEXT => none_if_unbound(exception.context),
                name::SUPPRESS => Value::Bool(exception.suppress),
                name::TRACEBACK | name::DOC => Value::None,
                name::VALUE => match self.obj(exception.args) {
                    Some(Obj::Tuple(args)) => args.first().copied().unwrap_or(Value::None),
                    _ => Value::None,
                },
                _ => return Ok(self.exception_part(object, key)),
            },
            Some(Obj::Function(function)) => match key {
                name::NAME => function.name,
                name::QUALNAME => function.qualname,
                name::DEFAULTS => none_if_unbound(function.defaults),
                name::KWDEFAULTS => none_if_unbound(function.keyword_defaults),
                name::DOC => match &codes[function.code as usize].code.doc {
                    Some(doc) => self.string(doc.as_str())?,
                    None => Value::None,
                },
                name::ANNOTATIONS => return self.annotations(function.code).map(Some),
                _ => return Ok(None),
            },
            Some(Obj::Method { function, receiver }) => match key {
                name::FUNC => *function,
                name::SELF => *receiver,
                _ => return self.attr_behind(*function, key).map(Some),
            },
            Some(Obj::Slice([start, stop, step])) => match key {
                name::START => *start,
                name::STOP => *stop,
                name::STEP => *step,
                _ => return Ok(None),
            },
            Some(Obj::Range { start, stop, step }) => match key {
                name::START => Value::Int(*start),
                name::STOP => Value::Int(*stop),
                name::STEP => Value::Int(*step),
                _ => return Ok(None),
            },
            Some(Obj::Property([get, set, delete, doc])) => match key {
                name::FGET => *get,
                name::FSET => *set,
                name::FDEL => *delete,
                name::DOC if !doc.is_none() => *doc,
                name::DOC => return self.attr_behind(*get, key).map(Some),
                _ => return Ok(None),
            },
            Some(Obj::Generator(generator)) if matches!(key, name::NAME | name::QUALNAME) => {
                generator.name
            }
            Some(Obj::Module { name, .. }) if key == name::NAME => *name,
            Some(Obj::StaticMethod(inner) | Obj::ClassMethod(inner)) if key == name::FUNC => *inner,
            _ => match object {
                Value::Native(id) if matches!(key, name::NAME | name::QUALNAME) => {
                    self.intern(native::name_of(id))?.into()
                }
                _ if key == name::DOC => Value::None,
                _ => return Ok(self.number_part(object, key)),
            },
        };
        Ok(Some(found))
    }

    /// An attribute of what a method or a property stands for, which may be one of them again.
    fn attr_behind(&mut self, mut value: Value, key: Handle) -> Outcome {
        for _ in 0..BEHIND_MAX {
            value = match self.obj(value) {
                Some(Obj::Method { function, .. }) => *function,
                Some(Obj::Property([get, ..])) if key == name::DOC => *get,
                _ if value.is_none() && key == name::DOC => return Ok(Value::None),
                _ => return self.get_attr(value, key.into()),
            };
        }
        Err(self.raise(Type::RecursionError, "maximum recursion depth exceeded"))
    }

    /// What the arguments of some exceptions are called.
    fn exception_part(&self, object: Value, key: Handle) -> Option<Value> {
        let place = match self.text(key.into())? {
            "code" if self.is_instance(object, Type::SystemExit) => 0,
            "errno" if self.is_instance(object, Type::OSError) => 0,
            "strerror" if self.is_instance(object, Type::OSError) => 1,
            "filename" if self.is_instance(object, Type::OSError) => 2,
            _ => return None,
        };
        let Some(Obj::Exception(exception)) = self.obj(object) else { return None };
        let Some(Obj::Tuple(args)) = self.obj(exception.args) else { return None };
        // A system's error has a number and a text, or neither.
        let known =
            place < args.len() && (args.len() > 1 || self.is_instance(object, Type::SystemExit));
        Some(if known { args[place] } else { Value::None })
    }

    /// `real`, `imag`, `numerator`, `denominator` of numbers.
    fn number_part(&self, object: Value, key: Handle) -> Option<Value> {
        let number = self.number(object)?;
        let float = matches!(number, super::number::Number::Float(_));
        match self.text(key.into())? {
            "real" | "numerator" if matches!(object, Value::Bool(_)) => {
                Some(Value::Int(i64::from(matches!(object, Value::Bool(true)))))
            }
            "real" => Some(self.inner(object)),
            "imag" => Some(if float { Value::Float(0.0) } else { Value::Int(0) }),
            "numerator" if !float => Some(self.inner(object)),
            "denominator" if !float => Some(Value::Int(1)),
            _ => None,
        }
    }

    /// The annotations of a function, as they are written.
    fn annotations(&mut self, code: u32) -> Outcome {
        let codes = std::sync::Arc::clone(&self.codes);
        let written = &codes[code as usize].code.annotations;
        self.charge(crate::cost::entries(written.len()))?;
        let dict = self.alloc(Obj::Dict(Dict::default()))?;
        let Value::Ref(handle) = dict else { return Err(Fatal::Internal.into()) };
        for (name, text) in written {
            let name = self.intern(name)?;
            let text = self.string(text.as_str())?;
            self.dict_set_name(handle, name, text)?;
        }
        Ok(dict)
    }
}

fn none_if_unbound(value: Value) -> Value {
    if value.is_unbound() { Value::None } else { value }
}
