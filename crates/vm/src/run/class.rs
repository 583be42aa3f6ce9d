//! Classes: their order of bases, and how instances come into being.

use super::Vm;
use super::call::Turn;
use super::fault::{Fatal, Fault, Outcome, shown};
use super::frame::After;
use crate::cost;
use crate::heap::dict::Dict;
use crate::heap::object::{Class, Obj};
use crate::heap::set::Set;
use crate::heap::types::{Type, name};
use crate::heap::value::{Handle, Value};
use crate::limits::NAME_BYTES_MAX;

/// Classes in one order of bases: look-ups walk it.
const MRO_MAX: usize = 64;

impl Vm {
    pub(crate) fn class_info(&self, class: Handle) -> Option<&Class> {
        match self.heap.get(class) {
            Obj::Class(info) => Some(info),
            _ => None,
        }
    }

    pub(crate) fn is_subclass(&self, class: Handle, of: Handle) -> bool {
        class == of || self.class_info(class).is_some_and(|info| info.mro.contains(&of))
    }

    pub(crate) fn is_instance(&self, value: Value, of: Type) -> bool {
        self.is_subclass(self.class_of(value), of.handle())
    }

    /// Makes a class from its name, bases and namespace.
    pub(crate) fn make_class(
        &mut self,
        name: Value,
        bases: Vec<Handle>,
        namespace: Handle,
        meta: Handle,
    ) -> Outcome {
        let bases = if bases.is_empty() { vec![Type::Object.handle()] } else { bases };
        if bases.len() > MRO_MAX {
            return Err(self.type_error("too many bases"));
        }
        if self.text(name).is_some_and(|name| name.len() > NAME_BYTES_MAX) {
            return Err(self.long_name());
        }
        // What the merge looks at: every list of bases, for every base.
        let orders = bases.iter().filter_map(|base| self.class_info(*base));
        let visited = bases.len() * orders.map(|info| info.mro.len()).sum::<usize>();
        self.charge(crate::cost::many(visited))?;
        let mut layout = Type::Object;
        for base in &bases {
            let Some(info) = self.class_info(*base) else {
                return Err(self.type_error("bases must be types"));
            };
            if info.layout != Type::Object {
                let exceptions = layout.is_exception() && info.layout.is_exception();
                if layout != Type::Object && layout != info.layout && !exceptions {
                    return Err(self.type_error("multiple bases have instance lay-out conflict"));
                }
                layout = info.layout;
            }
            let sealed = [Type::Bool, Type::Function, Type::Range, Type::Slice, Type::NoneType];
            if sealed.iter().any(|kind| kind.handle() == *base) {
                let kind = self.class_name(*base);
                return Err(
                    self.type_error(format!("type '{kind}' is not an acceptable base type"))
                );
            }
        }
        if let Some(twice) = (1..bases.len()).find(|place| bases[..*place].contains(&bases[*place]))
        {
            let kind = self.class_name(bases[twice]);
            return Err(self.type_error(format!("duplicate base class {kind}")));
        }
        let tails: Vec<Vec<Handle>> = bases
            .iter()
            .map(|base| self.class_info(*base).map(|info| info.mro.clone()).unwrap_or_default())
            .collect();
        let Some(order) = merge(tails, bases.clone()) else {
            let names: Vec<String> = bases.iter().map(|base| self.class_name(*base)).collect();
            return Err(self.type_error(format!(
                "Cannot create a consistent method resolution\norder (MRO) for bases {}",
                names.join(", ")
            )));
        };
        if order.len() >= MRO_MAX {
            return Err(self.type_error("too many bases"));
        }
        self.charge(64 + 8 * order.len() as u64)?;
        if let Some(slots) = self.dict_get_name(namespace, name::SLOTS) {
            let own = self.text(name).map(str::to_owned);
            let slots = self.slot_names(slots, own.as_deref())?;
            self.dict_set_name(namespace, name::SLOTS, slots)?;
        }
        let class = self.alloc(Obj::Class(Box::new(Class {
            name,
            bases: bases.clone(),
            mro: Vec::new(),
            derived: Vec::new(),
            dict: namespace,
            meta,
            layout,
            builtin: false,
        })))?;
        let Value::Ref(handle) = class else { return Err(Fatal::Internal.into()) };
        if let Obj::Class(info) = self.heap.get_mut(handle) {
            info.mro = std::iter::once(handle).chain(order).collect();
        }
        self.heap.resized(handle)?;
        let pinned = self.heap.pinned();
        for base in bases.into_iter().filter(|base| base.0 as usize >= pinned) {
            if let Obj::Class(info) = self.heap.get_mut(base) {
                info.derived.push(handle);
            }
            self.heap.resized(base)?;
        }
        // __eq__ without __hash__ makes instances unhashable.
        let defines_eq = self.dict_get_name(namespace, name::EQ).is_some();
        if defines_eq && self.dict_get_name(namespace, name::HASH).is_none() {
            self.dict_set_name(namespace, name::HASH, Value::None)?;
        }
        self.class_version += 1;
        Ok(class)
    }

    /// Messages and tracebacks show the names of classes and functions.
    pub(crate) fn long_name(&mut self) -> Fault {
        self.value_error(format!("a name has at most {NAME_BYTES_MAX} bytes"))
    }

    /// `cls(...)`: arguments are on the stack above `callee`.
    pub(crate) fn instantiate(
        &mut self,
        class: Handle,
        callee: usize,
        count: usize,
        keywords: Option<Handle>,
        after: After,
    ) -> Result<Turn, Fault> {
        let Some(info) = self.class_info(class) else { return Err(Fatal::Internal.into()) };
        let (layout, builtin, meta) = (info.layout, info.builtin, info.meta);
        if meta != Type::Type.handle()
            && let Some(hook) = self.class_attr(meta, name::CALL)
            && !matches!(hook, Value::Native(_))
        {
            self.stack.insert(callee, hook);
            return Ok(Turn::Again { count: count + 1, keywords, after });
        }
        let Some(new) = self.class_attr(class, name::NEW) else {
            return Err(Fatal::Internal.into());
        };
        if builtin && !layout.is_exception() {
            self.stack.insert(callee, new);
            return Ok(Turn::Again { count: count + 1, keywords, after });
        }
        let python_new = !matches!(new, Value::Native(_));
        let fixed = matches!(
            layout,
            Type::Int
                | Type::Float
                | Type::Str
                | Type::Bytes
                | Type::Tuple
                | Type::FrozenSet
                | Type::Type
                | Type::Property
        );
        if python_new || fixed {
            // The prelude calls __new__, then __init__.
            let function = self.prelude_function("_construct")?;
            self.stack.insert(callee, function);
            return Ok(Turn::Again { count: count + 1, keywords, after });
        }
        let instance = match layout {
            kind if kind.is_exception() => {
                let positional = count - keywords.map_or(0, |names| self.tuple_len(names));
                let args = self.stack[callee + 1..callee + 1 + positional].to_vec();
                let args = self.tuple(args)?;
                self.new_exception(class, args)?
            }
            Type::Object => {
                if let Some(missing) = self.class_attr(class, name::ABSTRACT)
                    && self.length(missing)? > 0
                {
                    return Err(self.abstract_error(class, missing));
                }
                self.new_instance(class, Value::Unbound)?
            }
            kind => {
                let payload = self.empty_of(kind)?;
                self.new_instance(class, payload)?
            }
        };
        let Some(init) = self.class_attr(class, name::INIT) else {
            return Err(Fatal::Internal.into());
        };
        if let Value::Native(_) = init
            && layout == Type::Object
        {
            if count > 0 {
                let kind = self.class_name(class);
                return Err(self.type_error(format!("{kind}() takes no arguments")));
            }
            self.stack.truncate(callee);
            return self.complete(after, instance).map(Turn::Done);
        }
        if matches!(after, After::Push) {
            self.stack[callee] = init;
            self.stack.insert(callee + 1, instance);
            let after = After::Init(instance);
            return Ok(Turn::Again { count: count + 1, keywords, after });
        }
        let function = self.prelude_function("_construct")?;
        self.stack.insert(callee, function);
        Ok(Turn::Again { count: count + 1, keywords, after })
    }

    /// What a builtin's `__new__` made, as an instance of the class that it was called for.
    pub(crate) fn of_class(&mut self, args: super::native::Args, made: Value) -> Outcome {
        let class = match self.stack.get(args.base) {
            Some(Value::Ref(class)) if args.count > 0 => *class,
            _ => return Ok(made),
        };
        match self.class_info(class) {
            Some(info) if !info.builtin => {
                let payload = self.inner(made);
                self.new_instance(class, payload)
            }
            _ => Ok(made),
        }
    }

    pub(crate) fn abstract_error(&mut self, class: Handle, missing: Value) -> Fault {
        let items = self.plain_items(missing).ok().flatten().unwrap_or_default();
        if let Err(fault) = self.charge(cost::sort(items.len())) {
            return fault;
        }
        // Cut before they are compared: their number is paid for, and not how long they are.
        let texts = items.iter().filter_map(|item| self.text(*item));
        let mut names: Vec<String> = texts.map(shown).collect();
        names.sort_unstable();
        names.truncate(16);
        let kind = self.class_name(class);
        let plural = if names.len() == 1 { "" } else { "s" };
        self.type_error(format!(
            "Can't instantiate abstract class {kind} with abstract method{plural} {}",
            names.join(", ")
        ))
    }

    fn tuple_len(&self, handle: Handle) -> usize {
        match self.heap.get(handle) {
            Obj::Tuple(items) => items.len(),
            _ => 0,
        }
    }

    fn empty_of(&mut self, kind: Type) -> Outcome {
        let obj = match kind {
            Type::List => Obj::List(Vec::new()),
            Type::Dict => Obj::Dict(Dict::default()),
            Type::Set => Obj::Set(Set::default()),
            Type::ByteArray => Obj::ByteArray(Vec::new()),
            other => {
                let kind = other.name();
                return Err(
                    self.type_error(format!("type '{kind}' is not an acceptable base type"))
                );
            }
        };
        self.alloc(obj)
    }
}

/// C3: the order that keeps each class before its bases and the bases in their order.
fn merge(mut lists: Vec<Vec<Handle>>, bases: Vec<Handle>) -> Option<Vec<Handle>> {
    lists.push(bases);
    let mut order = Vec::new();
    loop {
        lists.retain(|list| !list.is_empty());
        if lists.is_empty() {
            return Some(order);
        }
        let in_tail = |class: &Handle| lists.iter().any(|list| list[1..].contains(class));
        let next = lists.iter().map(|list| list[0]).find(|class| !in_tail(class))?;
        for list in &mut lists {
            if list[0] == next {
                list.remove(0);
            }
        }
        order.push(next);
        if order.len() > MRO_MAX {
            return Some(order);
        }
    }
}
