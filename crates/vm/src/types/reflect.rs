//! What programs ask about functions and classes, and what the machine asks of modules in Python.

use crate::code::{Kind, Op};
use crate::cost;
use crate::heap::object::Obj;
use crate::heap::value::Value;
use crate::limits::SCRIPT_FRAME_DEPTH;
use crate::run::Vm;
use crate::run::fault::{Fault, Outcome};
use crate::run::native::{Args, Table};

pub(crate) const TABLE: Table = &[
    ("function", "__get__", function_get, ""),
    ("type", "__subclasses__", subclasses, ""),
    ("list", "__iadd__", in_python, "_iadd_list"),
    ("list", "__imul__", in_python, "_imul_list"),
    ("dict", "__ior__", in_python, "_ior_dict"),
    ("dict_keys", "isdisjoint", in_python, "_isdisjoint"),
    ("dict_items", "isdisjoint", in_python, "_isdisjoint"),
    ("_", "_code_facts", code_facts, ""),
    ("_", "_way", way, ""),
    ("_", "_frame_limit", frame_limit, ""),
    ("_", "_set_frame_limit", set_frame_limit, ""),
    ("_", "_showing", showing, ""),
    ("_", "_redirected", redirected, ""),
];

/// CPython's flags of a code object.
const VAR_ARGS: i64 = 0x04;
const VAR_KEYWORDS: i64 = 0x08;
const GENERATOR: i64 = 0x20;
const COROUTINE: i64 = 0x80;
const ASYNC_GENERATOR: i64 = 0x200;

impl Vm {
    /// A value of a module in Python, by its name.
    fn in_module(&self, module: &str, name: &str) -> Option<Value> {
        let module = self.modules.get(module)?.handle()?;
        let Obj::Module { dict, .. } = self.heap.get(module) else { return None };
        self.dict_get_name(*dict, *self.interned.get(name)?)
    }

    /// What `print` writes to, if the program has put something else in the place of `sys.stdout`.
    pub(crate) fn redirected(&self) -> Option<Value> {
        let now = self.in_module("sys", "stdout")?;
        let first = self.in_module("sys", "__stdout__")?;
        if now.is(first) { None } else { Some(now) }
    }

    /// Whether an object is of one of the kinds of `collections.abc`, for `match`.
    pub(crate) fn is_abstractly(&mut self, value: Value, kind: &str) -> Result<bool, Fault> {
        let Some(Obj::Instance(instance)) = self.obj(value) else { return Ok(false) };
        if !instance.payload.is_unbound() {
            return Ok(false);
        }
        let class = instance.class;
        match self.in_module("collections.abc", kind) {
            Some(Value::Ref(kind)) => {
                self.charge(cost::CLASS_LOOKUP)?;
                Ok(self.is_subclass(class, kind) || self.is_registered(class, kind)?)
            }
            _ => Ok(false),
        }
    }
}

/// Methods that are called by name only, and are no faster here than in the prelude.
fn in_python(_: &mut Vm, _: Args) -> Outcome {
    Err(Fault::Fallback)
}

/// `function.__get__(instance)`.
fn function_get(vm: &mut Vm, args: Args) -> Outcome {
    let [function, receiver, _] = vm.take(args, "__get__", ["self", "instance", "owner"], 2)?;
    if receiver.is_none() {
        return Ok(function);
    }
    vm.alloc(Obj::Method { function, receiver })
}

/// Classes of the program that name this one as a base, in the order in which they were made.
fn subclasses(vm: &mut Vm, args: Args) -> Outcome {
    let [class] = vm.take(args, "__subclasses__", ["self"], 1)?;
    let derived = match class.handle().and_then(|class| vm.class_info(class)) {
        Some(info) => info.derived.iter().map(|class| Value::Ref(*class)).collect(),
        None => Vec::new(),
    };
    vm.charge(cost::many(derived.len()))?;
    vm.list(derived)
}

/// What stands in a function's code object.
fn code_facts(vm: &mut Vm, args: Args) -> Outcome {
    let [function] = vm.take(args, "_code_facts", ["function"], 1)?;
    let Some(Obj::Function(function)) = vm.obj(function) else {
        return Err(vm.type_error("a function is needed"));
    };
    let codes = std::sync::Arc::clone(&vm.codes);
    let loaded = &codes[function.code as usize];
    let code = &loaded.code;
    vm.charge(cost::values(loaded.slot_names.len()))?;
    let own = code.slot_names.len() - code.free as usize;
    // Variables that inner functions share are no locals, unless they are parameters.
    let stars = usize::from(code.var_args) + usize::from(code.var_keywords);
    let parameters = usize::from(code.positional) + usize::from(code.keyword_only) + stars;
    let mut shared = vec![false; own];
    for instr in code.instrs.iter().take_while(|instr| instr.op == Op::MakeCell) {
        if let Some(cell) = shared.get_mut(instr.b as usize) {
            *cell = instr.b as usize >= parameters;
        }
    }
    let kept = loaded.slot_names[..own].iter().zip(&shared).filter(|(_, shared)| !**shared);
    let local = kept.map(|(name, _)| *name).collect();
    let free = loaded.slot_names[own..].to_vec();
    let mut flags = 0x03;
    flags |= if code.var_args { VAR_ARGS } else { 0 };
    flags |= if code.var_keywords { VAR_KEYWORDS } else { 0 };
    flags |= match code.kind {
        Kind::Plain => 0,
        Kind::Generator => GENERATOR,
        Kind::Coroutine => COROUTINE,
        Kind::AsyncGenerator => ASYNC_GENERATOR,
    };
    let (local, free) = (vm.tuple(local)?, vm.tuple(free)?);
    let counts = [code.positional, code.positional_only, code.keyword_only].map(i64::from);
    let line = i64::from(code.line(0));
    let mut facts: Vec<Value> = counts.into_iter().chain([flags, line]).map(Value::Int).collect();
    facts.extend([loaded.name, loaded.qualname, local, free]);
    vm.tuple(facts)
}

/// Names and lines that an exception came by, the innermost first.
fn way(vm: &mut Vm, args: Args) -> Outcome {
    let [error] = vm.take(args, "_way", ["error"], 1)?;
    let Some(Obj::Exception(exception)) = vm.obj(error) else { return vm.list(Vec::new()) };
    let lines = exception.traceback.clone();
    vm.charge(cost::values(lines.len()) * 4)?;
    let codes = std::sync::Arc::clone(&vm.codes);
    let mut steps = Vec::with_capacity(lines.len());
    for (code, line) in lines {
        let name = codes[code as usize].name;
        steps.push(vm.tuple(vec![name, Value::Int(line.into())])?);
    }
    vm.list(steps)
}

/// The limit on frames that a program sees.
fn frame_limit(vm: &mut Vm, args: Args) -> Outcome {
    let [] = vm.take(args, "getrecursionlimit", [], 0)?;
    // An actor sees CPython's default.
    let script = vm.is_script();
    Ok(Value::Int(if script { vm.frame_depth } else { SCRIPT_FRAME_DEPTH } as i64))
}

/// A plain script may raise the limit; an actor's is fixed.
fn set_frame_limit(vm: &mut Vm, args: Args) -> Outcome {
    let [limit] = vm.take(args, "setrecursionlimit", ["limit"], 1)?;
    let limit = vm.want_int(limit)?;
    if limit < 1 {
        return Err(vm.value_error("recursion limit must be greater or equal than 1"));
    }
    if vm.is_script() {
        vm.frame_depth = (limit as usize).min(vm.frame_depth_max);
    }
    Ok(Value::None)
}

/// Whether the function that asks is at work on this value, its first argument, further down already:
/// a `repr` that came back to where it began.
fn showing(vm: &mut Vm, args: Args) -> Outcome {
    let [value] = vm.take(args, "_showing", ["value"], 1)?;
    vm.charge(1 + vm.frames.len() as u64 / 8)?;
    let Some((top, below)) = vm.frames.split_last() else { return Ok(Value::Bool(false)) };
    let first = |base: u32| match vm.stack.get(base as usize) {
        Some(Value::Ref(handle)) => match vm.heap.get(*handle) {
            Obj::Cell(inner) => *inner,
            _ => Value::Ref(*handle),
        },
        _ => Value::Unbound,
    };
    let mut same = below.iter().filter(|frame| frame.code == top.code);
    Ok(Value::Bool(same.any(|frame| first(frame.base).is(value))))
}

fn redirected(vm: &mut Vm, args: Args) -> Outcome {
    let [] = vm.take(args, "_redirected", [], 0)?;
    Ok(vm.redirected().unwrap_or(Value::Ellipsis))
}
