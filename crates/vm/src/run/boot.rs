//! The image that every machine starts from: names, types, natives, the prelude, the modules. Built
//! once for a process; machines share it and copy what they change. Plain scripts have an image of their
//! own with more modules.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use sha2::{Digest, Sha256};

use super::frame::{After, Frame};
use super::methods::export;
use super::native::NATIVES;
use super::{Codes, Lookup, Vm};
use crate::heap::Heap;
use crate::heap::dict::Dict;
use crate::heap::interned::Interned;
use crate::heap::object::{Class, Obj};
use crate::heap::types::{NAMES, TYPES, Type, name};
use crate::heap::value::{Handle, Value, float};
use crate::limits::Limits;
use crate::run::fault::Fault;

const NO_LOOKUP: Lookup = Lookup {
    class: Handle(u32::MAX),
    name: Handle(u32::MAX),
    version: 0,
    price: 0,
    value: Value::Unbound,
};
const LOOKUPS: usize = 1024;

/// Name and source of the prelude or of a module written in Python.
type Module = (&'static str, &'static str);

/// Locked only while it is copied: a machine can be sent between threads, not shared.
struct Image(LazyLock<Mutex<Result<Vm, String>>>);

static ACTORS: Image = Image(LazyLock::new(|| Mutex::new(build(crate::prelude::MODULES))));
static SCRIPTS: Image = Image(LazyLock::new(|| {
    Mutex::new(build(&[crate::prelude::MODULES, crate::script::prelude::MODULES].concat()))
}));

impl Image {
    fn machine(&self, limits: Limits) -> Vm {
        match &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            Ok(image) => image.fork(limits),
            // Tests build the image; an installed program cannot come here.
            Err(_) => Vm::bare(),
        }
    }

    fn error(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).as_ref().err().cloned()
    }
}

impl Vm {
    /// A machine with these limits and nothing loaded.
    pub fn new(limits: Limits) -> Self {
        ACTORS.machine(limits)
    }

    /// A machine for a plain script, which has more modules and may have more frames.
    pub(crate) fn for_script(limits: Limits) -> Self {
        Self { frame_depth_max: crate::limits::SCRIPT_FRAME_DEPTH_MAX, ..SCRIPTS.machine(limits) }
    }

    /// Why an image could not be built; for tests.
    #[doc(hidden)]
    pub fn image_error() -> Option<String> {
        ACTORS.error().or_else(|| SCRIPTS.error())
    }

    fn bare() -> Self {
        Self {
            heap: Heap::new(),
            stack: Vec::new(),
            frames: Vec::new(),
            codes: Arc::default(),
            pinned_codes: 0,
            image_hash: [0; 32],
            program: None,
            cycles: Cell::new(u64::MAX),
            limits: Limits::default(),
            output: String::new(),
            errors: String::new(),
            echo: None,
            interned: Interned::default(),
            builtins: Handle(0),
            prelude: Handle(0),
            modules: Arc::default(),
            lookups: vec![NO_LOOKUP; LOOKUPS],
            class_version: 1,
            host: None,
            main: None,
            waiting: BTreeMap::new(),
            host_room: 0,
            frame_depth: crate::limits::FRAME_DEPTH_MAX,
            frame_depth_max: crate::limits::FRAME_DEPTH_MAX,
            kept: Value::Unbound,
            profiler: None,
            entering: None,
            asking: None,
        }
    }

    fn fork(&self, limits: Limits) -> Self {
        let mut heap = self.heap.clone();
        heap.seal(limits.heap_bytes);
        Self {
            heap,
            stack: Vec::with_capacity(1024),
            frames: Vec::with_capacity(64),
            codes: Arc::clone(&self.codes),
            pinned_codes: self.codes.len(),
            image_hash: self.image_hash,
            cycles: Cell::new(limits.cycles),
            limits,
            interned: self.interned.clone(),
            builtins: self.builtins,
            prelude: self.prelude,
            modules: Arc::clone(&self.modules),
            class_version: self.class_version,
            ..Self::bare()
        }
    }

    pub(crate) fn enter_module(
        &mut self,
        code: u32,
        globals: Handle,
        after: After,
    ) -> Result<(), Fault> {
        self.check_depth()?;
        let base = self.stack.len() as u32;
        let slots = self.codes[code as usize].code.slots as usize;
        self.stack.resize(base as usize + slots, Value::Unbound);
        self.frames.push(Frame {
            code,
            pc: 0,
            base,
            bottom: base,
            globals,
            namespace: Value::Unbound,
            generator: None,
            handling: Value::Unbound,
            after,
        });
        Ok(())
    }
}

fn build(modules: &[Module]) -> Result<Vm, String> {
    let mut vm = Vm::bare();
    fn failed(what: &str) -> impl Fn(Fault) -> String {
        move |fault| format!("{what}: {fault:?}")
    }
    for text in NAMES {
        let handle = vm.heap.str(*text).map_err(|_| "names".to_owned())?;
        vm.interned.insert((*text).to_owned(), handle);
    }
    types(&mut vm).map_err(failed("types"))?;
    natives(&mut vm).map_err(failed("natives"))?;
    let mut hasher = image_hasher(modules);
    for (index, (module, source)) in modules.iter().enumerate() {
        let file = format!("<{module}>");
        let program = crate::front::compile(source, &file).map_err(|error| error.to_string())?;
        hasher.update(program.hash);
        let code = vm.load(&program, true).map_err(failed(module))?;
        let globals = if *module == "prelude" {
            vm.prelude
        } else {
            module_dict(&mut vm, module).map_err(failed(module))?
        };
        vm.enter_module(code, globals, After::Entry).map_err(failed(module))?;
        if let Err(stop) = vm.run() {
            return Err(format!("{module}: {}", vm.describe_stop(stop)));
        }
        name_module(&mut vm, module, globals).map_err(failed(module))?;
        if let Some((outer, inner)) = module.split_once('.') {
            let outer = module_dict(&mut vm, outer).map_err(failed(module))?;
            let name = vm.intern(inner).map_err(|_| "names".to_owned())?;
            let value = vm.modules.get(*module).copied().unwrap_or(Value::None);
            vm.dict_set_name(outer, name, value).map_err(failed(module))?;
        }
        let last = modules.iter().rposition(|(other, _)| *other == "prelude");
        if Some(index) == last {
            export(&mut vm).map_err(failed("export"))?;
        }
    }
    vm.image_hash = hasher.finalize().into();
    vm.codes = Arc::new(Codes { image: Arc::new(vm.codes.own.clone()), own: Vec::new() });
    vm.heap.share();
    vm.interned.share();
    Ok(vm)
}

/// Names, types and natives, by their places; the code of the modules follows.
fn image_hasher(modules: &[Module]) -> Sha256 {
    let mut hasher = Sha256::new();
    hasher.update(b"remuda-vm-image-v2:");
    let types = TYPES.iter().flat_map(|(_, text, parent)| [*text, parent.name()]);
    let natives = NATIVES.iter().flat_map(|native| [native.owner, native.name, native.fallback]);
    let modules = modules.iter().map(|(module, _)| *module);
    for text in NAMES.iter().copied().chain(types).chain(natives).chain(modules) {
        hasher.update((text.len() as u64).to_le_bytes());
        hasher.update(text);
    }
    hasher
}

fn types(vm: &mut Vm) -> Result<(), Fault> {
    for (kind, _, _) in TYPES {
        let layout = match kind {
            Type::Bool => Type::Int,
            kind if kind.is_exception() => Type::BaseException,
            kind => *kind,
        };
        vm.heap.alloc(Obj::Class(Box::new(Class {
            name: Value::None,
            bases: Vec::new(),
            mro: Vec::new(),
            derived: Vec::new(),
            dict: Handle(0),
            meta: Type::Type.handle(),
            layout,
            builtin: true,
        })))?;
    }
    for char in 0..128u8 {
        vm.intern(char::from(char).encode_utf8(&mut [0; 4]))?;
    }
    vm.builtins = vm.heap.alloc(Obj::Dict(Dict::default()))?;
    vm.prelude = vm.heap.alloc(Obj::Dict(Dict::default()))?;
    for (kind, text, parent) in TYPES {
        let name = vm.intern(text)?;
        let dict = vm.heap.alloc(Obj::Dict(Dict::default()))?;
        let mut mro = vec![kind.handle()];
        let mut bases = Vec::new();
        if *kind != Type::Object {
            bases.push(parent.handle());
            if let Obj::Class(parent) = vm.heap.get(parent.handle()) {
                mro.extend(&parent.mro);
            }
        }
        if let Obj::Class(class) = vm.heap.get_mut(kind.handle()) {
            class.name = name.into();
            class.dict = dict;
            class.mro = mro;
            class.bases = bases;
        }
        let hidden = [
            "NoneType",
            "NotImplementedType",
            "ellipsis",
            "function",
            "builtin_function_or_method",
            "method",
            "generator",
            "coroutine",
            "async_generator",
            "iterator",
            "dict_keys",
            "dict_values",
            "dict_items",
            "module",
            "cell",
            "awaitable",
        ];
        if !hidden.contains(text) {
            vm.dict_set_name(vm.builtins, name, kind.handle().into())?;
        }
    }
    // What changes has no hash.
    let changing = [
        Type::List,
        Type::Dict,
        Type::Set,
        Type::ByteArray,
        Type::DictKeys,
        Type::DictItems,
        Type::Slice,
    ];
    for kind in changing {
        if let Obj::Class(class) = vm.heap.get(kind.handle()) {
            vm.dict_set_name(class.dict, name::HASH, Value::None)?;
        }
    }
    for (text, value) in [("NotImplemented", Value::NotImplemented), ("Ellipsis", Value::Ellipsis)]
    {
        let name = vm.intern(text)?;
        vm.dict_set_name(vm.builtins, name, value)?;
    }
    for text in ["IOError", "EnvironmentError"] {
        let name = vm.intern(text)?;
        vm.dict_set_name(vm.builtins, name, Type::OSError.handle().into())?;
    }
    let debug = vm.intern("__debug__")?;
    vm.dict_set_name(vm.builtins, debug, Value::Bool(true))
}

/// Tells a module's classes where they come from. Those of the prelude are as good as the program's.
fn name_module(vm: &mut Vm, module: &str, globals: Handle) -> Result<(), Fault> {
    if module == "prelude" {
        return Ok(());
    }
    let name = vm.intern(module)?;
    let values: Vec<Value> = match vm.heap.get(globals) {
        Obj::Dict(table) => table.iter().map(|entry| entry.value).collect(),
        _ => Vec::new(),
    };
    for value in values {
        if let Some(Obj::Class(class)) = vm.obj(value)
            && !class.builtin
            && vm.name_in(class.dict, name::MODULE).0.is_none()
        {
            let dict = class.dict;
            vm.dict_set_name(dict, name::MODULE, name.into())?;
        }
    }
    Ok(())
}

fn module_dict(vm: &mut Vm, module: &str) -> Result<Handle, Fault> {
    if let Some(Value::Ref(handle)) = vm.modules.get(module)
        && let Obj::Module { dict, .. } = vm.heap.get(*handle)
    {
        return Ok(*dict);
    }
    let dict = vm.heap.alloc(Obj::Dict(Dict::default()))?;
    let name = vm.intern(module)?;
    let handle = vm.heap.alloc(Obj::Module { name: name.into(), dict })?;
    vm.dict_set_name(dict, name::NAME, name.into())?;
    Arc::make_mut(&mut vm.modules).insert(module.to_owned(), handle.into());
    Ok(dict)
}

fn natives(vm: &mut Vm) -> Result<(), Fault> {
    for (id, native) in NATIVES.iter().enumerate() {
        let name = vm.intern(native.name)?;
        let value = Value::Native(id as u16);
        let kind = TYPES.iter().find(|entry| entry.1 == native.owner).map(|entry| entry.0);
        let dict = match (native.owner, kind) {
            ("", _) => vm.builtins,
            ("_", _) => vm.prelude,
            (_, Some(kind)) => match vm.heap.get(kind.handle()) {
                Obj::Class(class) => class.dict,
                _ => continue,
            },
            (module, None) => module_dict(vm, module)?,
        };
        vm.dict_set_name(dict, name, value)?;
    }
    let math = module_dict(vm, "math")?;
    let constants = [
        ("pi", std::f64::consts::PI),
        ("e", std::f64::consts::E),
        ("tau", std::f64::consts::TAU),
        ("inf", f64::INFINITY),
        ("nan", f64::NAN),
    ];
    for (text, value) in constants {
        let name = vm.intern(text)?;
        vm.dict_set_name(math, name, float(value))?;
    }
    Ok(())
}
