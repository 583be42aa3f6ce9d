//! What the prelude gives to everybody: builtins, and methods of builtin types.

use super::Vm;
use super::fault::Fault;
use crate::heap::object::Obj;
use crate::heap::types::{Type, name};
use crate::heap::value::Value;

/// What the prelude defines without an underscore is a builtin.
pub(super) fn export(vm: &mut Vm) -> Result<(), Fault> {
    let Some(table) = vm.table(vm.prelude) else { return Ok(()) };
    let entries: Vec<(Value, Value)> = table.iter().map(|entry| (entry.key, entry.value)).collect();
    for (key, value) in entries {
        if vm.text(key).is_some_and(|text| !text.starts_with('_')) {
            vm.dict_insert(vm.builtins, key, value)?;
        }
    }
    // A program without a docstring has none.
    vm.dict_set_name(vm.builtins, name::DOC, Value::None)?;
    for (kind, method, function, fixed) in METHODS {
        let function = vm.prelude_function(function)?;
        let value = match fixed {
            true => Value::Ref(vm.heap.alloc(Obj::StaticMethod(function))?),
            false => function,
        };
        set_method(vm, *kind, method, value)?;
    }
    for method in BYTES_METHODS {
        let function = vm.prelude_function(&format!("_bytes_{method}"))?;
        set_method(vm, Type::Bytes, method, function)?;
        set_method(vm, Type::ByteArray, method, function)?;
    }
    Ok(())
}

fn set_method(vm: &mut Vm, kind: Type, method: &str, value: Value) -> Result<(), Fault> {
    let method = vm.intern(method)?;
    match vm.heap.get(kind.handle()) {
        Obj::Class(class) => vm.dict_set_name(class.dict, method, value),
        _ => Ok(()),
    }
}

/// Methods that bytes and bytearray share, in the prelude with `_bytes_` before the name.
const BYTES_METHODS: &[&str] = &[
    "find",
    "rfind",
    "index",
    "rindex",
    "count",
    "strip",
    "lstrip",
    "rstrip",
    "split",
    "rsplit",
    "splitlines",
    "partition",
    "rpartition",
    "replace",
    "removeprefix",
    "removesuffix",
    "zfill",
    "center",
    "capitalize",
    "swapcase",
    "title",
    "isalpha",
    "isdigit",
    "isalnum",
    "isascii",
    "isspace",
    "isupper",
    "islower",
    "istitle",
    "expandtabs",
    "translate",
];

/// Methods of builtin types that the prelude has; static ones take no receiver.
const METHODS: &[(Type, &str, &str, bool)] = &[
    (Type::Str, "format", "_format_method", false),
    (Type::Str, "format_map", "_format_map", false),
    (Type::Str, "translate", "_translate", false),
    (Type::Str, "maketrans", "_maketrans", true),
    (Type::Dict, "fromkeys", "_fromkeys", true),
    (Type::Int, "from_bytes", "_from_bytes", true),
    (Type::Float, "fromhex", "_float_fromhex", true),
    (Type::Int, "__round__", "_number_round", false),
    (Type::Float, "__round__", "_number_round", false),
    (Type::Int, "__trunc__", "_number_trunc", false),
    (Type::Float, "__trunc__", "_number_trunc", false),
    (Type::Int, "__floor__", "_number_floor", false),
    (Type::Float, "__floor__", "_number_floor", false),
    (Type::Int, "__ceil__", "_number_ceil", false),
    (Type::Float, "__ceil__", "_number_ceil", false),
    (Type::Int, "__divmod__", "_number_divmod", false),
    (Type::Float, "__divmod__", "_number_divmod", false),
    (Type::Bytes, "fromhex", "_fromhex", true),
    (Type::ByteArray, "fromhex", "_fromhex_array", true),
    (Type::Bytes, "maketrans", "_bytes_maketrans", true),
    (Type::ByteArray, "maketrans", "_bytes_maketrans", true),
    (Type::ByteArray, "insert", "_bytearray_insert", false),
    (Type::ByteArray, "remove", "_bytearray_remove", false),
    (Type::ByteArray, "reverse", "_bytearray_reverse", false),
    (Type::ByteArray, "copy", "_bytearray_copy", false),
    (Type::AsyncGenerator, "__aiter__", "_agen_iter", false),
    (Type::AsyncGenerator, "__anext__", "_agen_next", false),
    (Type::AsyncGenerator, "asend", "_agen_send", false),
    (Type::AsyncGenerator, "athrow", "_agen_throw", false),
    (Type::AsyncGenerator, "aclose", "_agen_close", false),
];
