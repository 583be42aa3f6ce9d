//! What only the prelude calls: classes, tables, identities, the host.

use std::convert::Infallible;

use super::builtins::attr_name;
use crate::code::Kind;
use crate::heap::object::Obj;
use crate::heap::types::{Type, name};
use crate::heap::value::{Handle, Value};
use crate::limits::HOST_ARGUMENTS_MAX;
use crate::run::Vm;
use crate::run::fault::{Fatal, Fault, Outcome, Tail};
use crate::run::frame::After;
use crate::run::hash::{hash_frozen, hash_tuple};
use crate::run::native::{Args, Table};

pub(crate) const TABLE: Table = &[
    ("_", "_identity", identity, ""),
    ("_", "_tokens", tokens, ""),
    ("_", "_wait_any", wait_any, ""),
    ("_", "_resolve", resolve, ""),
    ("_", "_write", write, ""),
    ("_", "_write_error", write_error, ""),
    ("_", "_own_dict", own_dict, ""),
    ("_", "_make_class", make_class, ""),
    ("_", "_run_body", run_body, ""),
    ("_", "_set_cell", set_cell, ""),
    ("_", "_wrap", wrap, ""),
    ("_", "_layout", layout, ""),
    ("_", "_iterates_natively", iterates_natively, ""),
    ("_", "_candidates", candidates, ""),
    ("_", "_insert_hashed", insert_hashed, ""),
    ("_", "_remove_place", remove_place, ""),
    ("_", "_value_at", value_at, ""),
    ("_", "_set_value_at", set_value_at, ""),
    ("_", "_hash_of", hash_of, ""),
    ("_", "_user_method", user_method, ""),
    ("_", "_own_names", own_names, ""),
    ("_", "_is_async", is_async, ""),
    ("_", "_burn", burn, ""),
    ("_", "_handled", handled, ""),
    ("cowboy", "_call", host_call, ""),
];

/// Whether a function, or the one that its decorators wrap, is an `async def`.
fn is_async(vm: &mut Vm, args: Args) -> Outcome {
    let [function] = vm.take(args, "_is_async", ["function"], 1)?;
    let mut value = function;
    // As deep as decorators are looked through elsewhere.
    for _ in 0..32 {
        let Some(Obj::Function(function)) = vm.obj(value) else { break };
        if vm.codes[function.code as usize].code.kind == Kind::Coroutine {
            return Ok(Value::Bool(true));
        }
        let dict = function.dict;
        let wrapped = dict.and_then(|dict| vm.dict_get_name(dict, name::WRAPPED));
        let Some(wrapped) = wrapped else { break };
        value = wrapped;
    }
    Ok(Value::Bool(false))
}

/// The exception that the caller, or a function that called it, is handling; or None.
fn handled(vm: &mut Vm, args: Args) -> Outcome {
    let [] = vm.take(args, "_handled", [], 0)?;
    vm.charge(vm.frames.len() as u64)?;
    let found =
        vm.frames.iter().rev().map(|frame| frame.handling).find(|found| !found.is_unbound());
    Ok(found.unwrap_or(Value::None))
}

/// Spends cycles: for programs that say themselves what something is worth.
fn burn(vm: &mut Vm, args: Args) -> Outcome {
    let [cycles] = vm.take(args, "charge_gas", ["amount"], 1)?;
    match u64::try_from(vm.want_int(cycles)?) {
        Ok(cycles) => vm.charge(cycles).map(|()| Value::None),
        Err(_) => Err(vm.value_error("cycles cannot be given back")),
    }
}

fn write(vm: &mut Vm, args: Args) -> Outcome {
    let [text] = vm.take(args, "_write", ["text"], 1)?;
    let text = vm.want_text(text, "text")?;
    vm.print_text(&text)?;
    Ok(Value::None)
}

/// The attributes of an instance, also where slots keep programs from asking for them; or None.
fn own_dict(vm: &mut Vm, args: Args) -> Outcome {
    let [value] = vm.take(args, "_own_dict", ["value"], 1)?;
    Ok(vm.make_own_dict(value)?.map_or(Value::None, Value::Ref))
}

fn write_error(vm: &mut Vm, args: Args) -> Outcome {
    let [text] = vm.take(args, "_write_error", ["text"], 1)?;
    let text = vm.want_text(text, "text")?;
    vm.room_for_output(&text)?;
    vm.errors.push_str(&text);
    Ok(Value::None)
}

/// For the prelude only: tells two objects apart, and shows nothing of where they are.
fn identity(vm: &mut Vm, args: Args) -> Outcome {
    let [value] = vm.take(args, "_identity", ["value"], 1)?;
    Ok(match value {
        Value::Ref(handle) => Value::Int(vm.heap.told_apart(handle) as i64),
        _ => Value::None,
    })
}

/// What a suspended coroutine waits for, as a list of tokens.
fn tokens(vm: &mut Vm, args: Args) -> Outcome {
    let [value] = vm.take(args, "_tokens", ["value"], 1)?;
    let tokens = match vm.obj(value) {
        Some(Obj::Pending(token)) => vec![*token],
        Some(Obj::PendingAny(tokens)) => tokens.to_vec(),
        _ => return Err(vm.raise(Type::RuntimeError, "only the host can be waited for")),
    };
    vm.charge(crate::cost::values(tokens.len()))?;
    let mut numbers = Vec::with_capacity(tokens.len());
    for token in tokens {
        numbers.push(vm.int(token.into())?);
    }
    vm.list(numbers)
}

/// To be awaited: the first answer to one of a list of tokens.
fn wait_any(vm: &mut Vm, args: Args) -> Outcome {
    let [tokens] = vm.take(args, "_wait_any", ["tokens"], 1)?;
    let numbers = vm.items(tokens)?;
    vm.reserve(numbers.len() * 8)?;
    let mut tokens = Vec::with_capacity(numbers.len());
    for number in numbers {
        let token = match number {
            Value::Int(int) => u64::try_from(int).ok(),
            number => match vm.obj(number) {
                Some(Obj::Big(big)) => u64::try_from(big).ok(),
                _ => None,
            },
        };
        let Some(token) = token else { return Err(vm.type_error("a token is needed")) };
        tokens.push(token);
    }
    vm.alloc(Obj::PendingAny(tokens.into_boxed_slice()))
}

fn make_class(vm: &mut Vm, args: Args) -> Outcome {
    let [name, bases, namespace, meta] =
        vm.take(args, "type", ["name", "bases", "dict", "meta"], 4)?;
    let items = vm.items(bases)?;
    let mut handles = Vec::new();
    for item in items {
        match (item, vm.obj(item)) {
            (Value::Ref(handle), Some(Obj::Class(_))) => handles.push(handle),
            _ => return Err(vm.type_error("bases must be types")),
        }
    }
    let namespace = class_names(vm, namespace)?;
    let Value::Ref(meta) = meta else { return Err(Fatal::Internal.into()) };
    let Value::Ref(dict) = vm.copy_dict(namespace)? else { return Err(Fatal::Internal.into()) };
    // __new__ and the like are what their kind says even without a decorator.
    for (key, class_method) in
        [("__new__", false), ("__init_subclass__", true), ("__class_getitem__", true)]
    {
        let key = vm.intern(key)?;
        if let Some(function) = vm.dict_get_name(dict, key)
            && matches!(vm.obj(function), Some(Obj::Function(_)))
        {
            let wrapped =
                if class_method { Obj::ClassMethod(function) } else { Obj::StaticMethod(function) };
            let wrapped = vm.alloc(wrapped)?;
            vm.dict_set_name(dict, key, wrapped)?;
        }
    }
    vm.make_class(name, handles, dict, meta)
}

/// The dict in which a class's names are. Names are read and written there by no method of its own.
fn class_names(vm: &mut Vm, namespace: Value) -> Result<Handle, Fault> {
    let own = [name::SETITEM, name::GETITEM, name::MISSING];
    if own.iter().any(|method| vm.user_method(namespace, *method).is_some()) {
        return Err(vm.type_error(
            "a class's namespace cannot have methods of its own for its items: use a plain dict",
        ));
    }
    match (vm.inner(namespace), vm.obj(vm.inner(namespace))) {
        (Value::Ref(handle), Some(Obj::Dict(_))) => Ok(handle),
        _ => {
            let kind = vm.type_name(namespace);
            Err(vm.type_error(format!("a class's namespace must be a dict, not {kind}")))
        }
    }
}

fn run_body(vm: &mut Vm, args: Args) -> Outcome {
    let [function, namespace] = vm.take(args, "_run_body", ["function", "namespace"], 2)?;
    let namespace = class_names(vm, namespace)?.into();
    Err(Fault::Tail(Box::new(Tail {
        callee: function,
        args: Vec::new(),
        after: After::Push,
        namespace,
    })))
}

fn set_cell(vm: &mut Vm, args: Args) -> Outcome {
    let [cell, value] = vm.take(args, "_set_cell", ["cell", "value"], 2)?;
    vm.set_cell(cell, value)?;
    Ok(Value::None)
}

/// An instance of a subclass of a builtin type, around a value of that type.
fn wrap(vm: &mut Vm, args: Args) -> Outcome {
    let [class, payload] = vm.take(args, "_wrap", ["class", "payload"], 2)?;
    let Value::Ref(class) = class else { return Err(Fatal::Internal.into()) };
    let payload = vm.inner(payload);
    vm.new_instance(class, payload)
}

/// The builtin type that a class is built on.
fn layout(vm: &mut Vm, args: Args) -> Outcome {
    let [class] = vm.take(args, "_layout", ["class"], 1)?;
    let layout = class.handle().and_then(|class| vm.class_info(class)).map(|info| info.layout);
    Ok(layout.map_or(Value::None, |layout| layout.handle().into()))
}

fn iterates_natively(vm: &mut Vm, args: Args) -> Outcome {
    let [value] = vm.take(args, "_iterates_natively", ["value"], 1)?;
    let needs_python = match vm.obj(value) {
        Some(Obj::Generator(_)) => true,
        Some(Obj::Instance(_) | Obj::Class(_) | Obj::Exception(_)) => {
            !vm.iterates_natively(value)
                && (vm.user_method(value, name::ITER).is_some()
                    || vm.user_method(value, name::GETITEM).is_some())
        }
        _ => false,
    };
    let iterable = !needs_python;
    Ok(Value::Bool(iterable))
}

/// Keys of a table with this hash, each with its place.
fn candidates(vm: &mut Vm, args: Args) -> Outcome {
    let [table, hash] = vm.take(args, "_candidates", ["table", "hash"], 2)?;
    let (Value::Ref(handle), Some(hash)) = (vm.inner(table), vm.as_index(hash)) else {
        return Err(vm.type_error("__hash__ method should return an integer"));
    };
    let mut pairs = Vec::new();
    let mut see = |place: usize, key: Value| {
        pairs.extend([Value::Int(place as i64), key]);
        Ok::<bool, Infallible>(false)
    };
    let found = match vm.heap.get(handle) {
        Obj::Dict(dict) => dict.find(hash as u64, |place, entry| see(place, entry.key)),
        Obj::Set(set) | Obj::FrozenSet(set) => {
            set.find(hash as u64, |place, item| see(place, item.key))
        }
        _ => return Err(Fatal::Internal.into()),
    };
    let Ok((_, probes)) = found;
    if probes > 2 {
        vm.charge(probes as u64 * 2)?;
    }
    vm.list(pairs)
}

fn insert_hashed(vm: &mut Vm, args: Args) -> Outcome {
    let [table, hash, key, value] =
        vm.take(args, "_insert", ["table", "hash", "key", "value"], 4)?;
    let (Value::Ref(handle), Some(hash)) = (vm.inner(table), vm.as_index(hash)) else {
        return Err(Fatal::Internal.into());
    };
    if vm.is_set(handle.into()) {
        vm.change_set(handle, |set| set.push(hash as u64, key))?;
    } else {
        vm.dict_put(handle, None, hash as u64, key, value)?;
    }
    Ok(Value::None)
}

fn place_of(vm: &mut Vm, table: Value, place: Value) -> Result<(Handle, usize), Fault> {
    match (vm.inner(table), vm.as_index(place)) {
        (Value::Ref(handle), Some(place)) => Ok((handle, place as usize)),
        _ => Err(Fatal::Internal.into()),
    }
}

fn remove_place(vm: &mut Vm, args: Args) -> Outcome {
    let [table, place] = vm.take(args, "_remove", ["table", "place"], 2)?;
    let (handle, place) = place_of(vm, table, place)?;
    if vm.is_set(handle.into()) {
        vm.change_set(handle, |set| set.remove(place))?;
        return Ok(Value::None);
    }
    let Some(dict) = vm.table_mut(handle) else { return Err(Fatal::Internal.into()) };
    let (value, steps) = dict.remove_at(place);
    vm.heap.resized(handle)?;
    vm.charge(steps as u64)?;
    Ok(if value.is_unbound() { Value::None } else { value })
}

fn value_at(vm: &mut Vm, args: Args) -> Outcome {
    let [table, place] = vm.take(args, "_value_at", ["table", "place"], 2)?;
    let (handle, place) = place_of(vm, table, place)?;
    Ok(vm.table(handle).map_or(Value::None, |dict| dict.value_at(place)))
}

fn set_value_at(vm: &mut Vm, args: Args) -> Outcome {
    let [table, place, value] = vm.take(args, "_set_value_at", ["table", "place", "value"], 3)?;
    let (handle, place) = place_of(vm, table, place)?;
    if let Some(dict) = vm.table_mut(handle) {
        dict.set_value_at(place, value);
    }
    Ok(Value::None)
}

/// The hash of a tuple or frozenset, from those of its items.
fn hash_of(vm: &mut Vm, args: Args) -> Outcome {
    let [value, hashes] = vm.take(args, "_hash_of", ["value", "hashes"], 2)?;
    let hashes = vm.items(hashes)?;
    vm.charge(crate::cost::values(hashes.len()))?;
    let whole = hashes.iter().map(|hash| vm.as_index(*hash).map(|hash| hash as u64));
    let Some(hashes) = whole.collect::<Option<Vec<u64>>>() else {
        return Err(Fatal::Internal.into());
    };
    let hash = match vm.obj(vm.inner(value)) {
        Some(Obj::FrozenSet(_)) => hash_frozen(hashes.into_iter()),
        _ => hash_tuple(hashes.into_iter()),
    };
    Ok(Value::Int(hash as i64))
}

/// A special method written in Python, or None.
fn user_method(vm: &mut Vm, args: Args) -> Outcome {
    let [value, name] = vm.take(args, "_user_method", ["value", "name"], 2)?;
    let name = attr_name(vm, name)?;
    let Value::Ref(name) = name else { return Err(Fatal::Internal.into()) };
    Ok(vm.user_method(value, name).unwrap_or(Value::None))
}

/// Names in a class's own namespace and those of its bases, or in an object's dict.
fn own_names(vm: &mut Vm, args: Args) -> Outcome {
    let [value] = vm.take(args, "_own_names", ["value"], 1)?;
    let class = match (value, vm.obj(value)) {
        (Value::Ref(handle), Some(Obj::Class(_))) => handle,
        _ => vm.class_of(value),
    };
    let mut names = Vec::new();
    let mut tables: Vec<Handle> = Vec::new();
    if let Some(info) = vm.class_info(class) {
        let mro = info.mro.clone();
        tables.extend(mro.iter().filter_map(|base| vm.class_info(*base)).map(|base| base.dict));
    }
    if !matches!(vm.obj(value), Some(Obj::Class(_)))
        && let Some(dict) = vm.make_own_dict(value)?
    {
        tables.push(dict);
    }
    for table in tables {
        names.extend(
            vm.table(table).into_iter().flat_map(|dict| dict.iter().map(|entry| entry.key)),
        );
    }
    vm.charge(crate::cost::many(names.len().saturating_sub(256)))?;
    vm.list(names)
}

fn host_call(vm: &mut Vm, args: Args) -> Outcome {
    let values = vm.positional(args, "host call")?;
    let Some((name, rest)) = values.split_first() else {
        return Err(vm.type_error("a host call needs a name"));
    };
    if rest.len() > HOST_ARGUMENTS_MAX {
        let message = format!("a host call takes at most {HOST_ARGUMENTS_MAX} arguments");
        return Err(vm.type_error(message));
    }
    let name = vm.want_text(*name, "name")?;
    vm.call_host(&name, rest)
}

/// What a name means where a function was written: a global of its module, or a builtin.
fn resolve(vm: &mut Vm, args: Args) -> Outcome {
    let [function, name] = vm.take(args, "_resolve", ["function", "name"], 2)?;
    let text = vm.want_text(name, "name")?;
    let globals = match (vm.obj(function), vm.main) {
        // What stands around the machine's own functions is not for programs.
        (Some(Obj::Function(function)), _) if !vm.codes[function.code as usize].hidden => {
            function.globals
        }
        (_, Some(main)) => main,
        _ => return Err(vm.type_error("a function is needed")),
    };
    let found = vm.interned.get(&text).copied().and_then(|name| {
        vm.dict_get_name(globals, name).or_else(|| vm.dict_get_name(vm.builtins, name))
    });
    match found {
        Some(value) => Ok(value),
        None => Err(vm.raise(Type::NameError, format!("name '{text}' is not defined"))),
    }
}
