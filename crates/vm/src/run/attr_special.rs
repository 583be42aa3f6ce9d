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
        let (dict, builtin, own_name) = (info.dict, info.builtin, info.name);
        Ok(Some(match key {
            name::NAME => own_name,
            name::QUALNAME => self.dict_get_name(dict, name::QUALNAME).unwrap_or(own_name),
            name::CLASS => info.meta.into(),
            name::DOC => match self.dict_get_name(dict, name::DOC) {
                Some(doc) => doc,
                None if self.dict_get_name(dict, name::DATACLASS).is_some() => {
                    return Err(self.prelude_tail("_dataclass_doc", vec![object]));
                }
                None => Value::None,
            },
            name::MODULE => match self.dict_get_name(dict, name::MODULE) {
                Some(module) => module,
                None if builtin => self.intern("builtins")?.into(),
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
            // The first, or the one that says how instances are built.
            name::BASE => {
                let layout = info.layout;
                let built = |base: &&Handle| {
                    self.class_info(**base).is_some_and(|base| base.layout == layout)
                };
                let found = info.bases.iter().find(built).or(info.bases.first());
                found.map_or(Value::None, |base| Value::Ref(*base))
            }
            name::DICT => return self.copy_dict(dict).map(Some),
            name::ANNOTATIONS => match self.dict_get_name(dict, key) {
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
                name::TRACEBACK if !exception.traceback.is_empty() => {
                    return Err(self.prelude_tail("_traceback_of", vec![object]));
                }
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
                name::ANNOTATIONS if function.annotations.is_unbound() => {
                    let made = self.alloc(Obj::Dict(Dict::default()))?;
                    if let Some(Obj::Function(function)) =
                        object.handle().map(|handle| self.heap.get_mut(handle))
                    {
                        function.annotations = made;
                    }
                    made
                }
                name::ANNOTATIONS => function.annotations,
                name::CODE => return Err(self.prelude_tail("_code_of", vec![object])),
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
            "encoding" | "object" | "start" | "end" | "reason"
                if self.is_instance(object, Type::UnicodeError) =>
            {
                return self.unicode_part(object, key);
            }
            "errno" if self.is_instance(object, Type::OSError) => 0,
            "strerror" if self.is_instance(object, Type::OSError) => 1,
            "filename" if self.is_instance(object, Type::OSError) => 2,
            "msg" if self.is_instance(object, Type::SyntaxError) => return self.first_of(object),
            "msg" if self.is_instance(object, Type::ImportError) => return self.first_of(object),
            "name" => return self.name_told(object),
            _ => return None,
        };
        let Some(Obj::Exception(exception)) = self.obj(object) else { return None };
        let Some(Obj::Tuple(args)) = self.obj(exception.args) else { return None };
        // A system's error has a number and a text, or neither.
        let known =
            place < args.len() && (args.len() > 1 || self.is_instance(object, Type::SystemExit));
        Some(if known { args[place] } else { Value::None })
    }

    /// One of the five arguments of such an error; those that the machine raises have a text alone.
    fn unicode_part(&self, object: Value, key: Handle) -> Option<Value> {
        let parts = ["encoding", "object", "start", "end", "reason"];
        let place = parts.iter().position(|part| self.text(key.into()) == Some(*part))?;
        let Some(Obj::Exception(exception)) = self.obj(object) else { return None };
        let Some(Obj::Tuple(args)) = self.obj(exception.args) else { return None };
        Some(args.get(place).copied().filter(|_| args.len() == parts.len()).unwrap_or(Value::None))
    }

    /// The name that was not found, as the message of an exception of ours has it.
    fn name_told(&self, object: Value) -> Option<Value> {
        let before: &[&str] = if self.is_instance(object, Type::NameError) {
            &["name '"]
        } else if self.is_instance(object, Type::AttributeError) {
            &["has no attribute '"]
        } else if self.is_instance(object, Type::ImportError) {
            &["No module named '", "' from '"]
        } else {
            return None;
        };
        let message = self.text(self.first_of(object)?).unwrap_or("");
        let quoted = |before: &&str| message.split_once(before)?.1.split_once('\'');
        let name = before.iter().find_map(quoted).and_then(|(name, _)| self.interned.get(name));
        Some(name.map_or(Value::None, |name| Value::Ref(*name)))
    }

    /// The first argument of an exception, or None.
    fn first_of(&self, object: Value) -> Option<Value> {
        let Some(Obj::Exception(exception)) = self.obj(object) else { return None };
        let Some(Obj::Tuple(args)) = self.obj(exception.args) else { return None };
        Some(args.first().copied().unwrap_or(Value::None))
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

    /// The table of a function's annotations, from names and values in turns.
    pub(super) fn annotations(&mut self, pairs: Value) -> Outcome {
        let pairs = self.items(pairs)?;
        self.charge(
            (crate::cost::entries(1) + crate::cost::NAME_LOOKUP) * (pairs.len() / 2) as u64,
        )?;
        let dict = self.alloc(Obj::Dict(Dict::default()))?;
        let Value::Ref(handle) = dict else { return Err(Fatal::Internal.into()) };
        for pair in pairs.chunks_exact(2) {
            self.dict_insert(handle, pair[0], pair[1])?;
        }
        Ok(dict)
    }
}

fn none_if_unbound(value: Value) -> Value {
    if value.is_unbound() { Value::None } else { value }
}
