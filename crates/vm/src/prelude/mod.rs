//! What is written in Python: the slow ways of operations that need a program's own methods, and the
//! modules that are no faster in Rust. Compiled once; charged like any code.

/// Module names and sources, in the order in which they are loaded.
pub(crate) const MODULES: &[(&str, &str)] = &[
    ("prelude", include_str!("core.py")),
    ("functools", include_str!("functools.py")),
    ("itertools", include_str!("itertools.py")),
    ("collections", include_str!("collections.py")),
    ("collections.abc", include_str!("collections_abc.py")),
    ("dataclasses", include_str!("dataclasses.py")),
    ("enum", include_str!("enum.py")),
    ("typing", include_str!("typing.py")),
    ("abc", include_str!("abc.py")),
    ("json", include_str!("json.py")),
    ("heapq", include_str!("heapq.py")),
    ("bisect", include_str!("bisect.py")),
    ("operator", include_str!("operator.py")),
    ("contextlib", include_str!("contextlib.py")),
    ("copy", include_str!("copy.py")),
    ("hashlib", include_str!("hashlib.py")),
    ("base64", include_str!("base64.py")),
    ("re", include_str!("re.py")),
    ("string", include_str!("string.py")),
    ("struct", include_str!("struct.py")),
    ("sys", include_str!("sys.py")),
    ("types", include_str!("types.py")),
    ("cowboy", include_str!("cowboy.py")),
];
