//! What `from module import *` brings of the modules that are used so. A test takes all of it.

/// Modules and names, in their order.
#[rustfmt::skip]
pub(super) const STARS: &[(&str, &[&str])] = &[
    ("collections", &[
        "ChainMap", "Counter", "OrderedDict", "UserDict", "UserList", "UserString", "defaultdict",
        "deque", "namedtuple",
    ]),
    ("collections.abc", &[
        "AsyncGenerator", "AsyncIterable", "AsyncIterator", "Awaitable", "ByteString", "Callable",
        "Collection", "Container", "Coroutine", "Generator", "Hashable", "ItemsView", "Iterable",
        "Iterator", "KeysView", "Mapping", "MappingView", "MutableMapping", "MutableSequence",
        "MutableSet", "Reversible", "Sequence", "Set", "Sized", "ValuesView",
    ]),
    ("contextlib", &[
        "AbstractAsyncContextManager", "AbstractContextManager", "AsyncExitStack",
        "ContextDecorator", "ExitStack", "aclosing", "asynccontextmanager", "closing",
        "contextmanager", "nullcontext", "redirect_stderr", "redirect_stdout", "suppress",
    ]),
    ("dataclasses", &[
        "Field", "FrozenInstanceError", "InitVar", "KW_ONLY", "MISSING", "asdict", "astuple",
        "dataclass", "field", "fields", "is_dataclass", "make_dataclass", "replace",
    ]),
    ("enum", &[
        "Enum", "EnumMeta", "EnumType", "Flag", "IntEnum", "IntFlag", "StrEnum", "auto", "unique",
    ]),
    ("functools", &[
        "cache", "cached_property", "cmp_to_key", "lru_cache", "partial", "partialmethod",
        "reduce", "singledispatch", "singledispatchmethod", "total_ordering", "update_wrapper",
        "wraps",
    ]),
    ("heapq", &[
        "heapify", "heappop", "heappush", "heappushpop", "heapreplace", "merge", "nlargest",
        "nsmallest",
    ]),
    ("itertools", &[
        "accumulate", "chain", "combinations", "combinations_with_replacement", "compress",
        "count", "cycle", "dropwhile", "filterfalse", "groupby", "islice", "pairwise",
        "permutations", "product", "repeat", "starmap", "takewhile", "tee", "zip_longest",
    ]),
    ("math", &[
        "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "comb",
        "copysign", "cos", "cosh", "degrees", "dist", "e", "erf", "erfc", "exp", "exp2", "expm1",
        "fabs", "factorial", "floor", "fmod", "frexp", "fsum", "gamma", "gcd", "hypot", "inf",
        "isclose", "isfinite", "isinf", "isnan", "isqrt", "lcm", "ldexp", "lgamma", "log",
        "log10", "log1p", "log2", "modf", "nan", "nextafter", "perm", "pi", "pow", "prod",
        "radians", "remainder", "sin", "sinh", "sqrt", "tan", "tanh", "tau", "trunc", "ulp",
    ]),
    ("operator", &[
        "add", "and_", "attrgetter", "call", "concat", "contains", "countOf", "delitem", "eq",
        "floordiv", "ge", "getitem", "gt", "iadd", "iand", "iconcat", "imul", "index", "indexOf",
        "inv", "invert", "ior", "is_", "is_not", "isub", "itemgetter", "ixor", "le",
        "length_hint", "lshift", "lt", "matmul", "methodcaller", "mod", "mul", "ne", "neg",
        "not_", "or_", "pos", "pow", "rshift", "setitem", "sub", "truediv", "truth", "xor",
    ]),
    ("string", &[
        "Template", "ascii_letters", "ascii_lowercase", "ascii_uppercase", "capwords", "digits",
        "hexdigits", "octdigits", "printable", "punctuation", "whitespace",
    ]),
    ("statistics", &[
        "StatisticsError", "correlation", "covariance", "fmean", "geometric_mean",
        "harmonic_mean", "mean", "median", "median_high", "median_low", "mode", "multimode",
        "pstdev", "pvariance", "quantiles", "stdev", "variance",
    ]),
    ("typing", &[
        "AbstractSet", "Annotated", "Any", "AnyStr", "AsyncContextManager", "AsyncGenerator",
        "AsyncIterable", "AsyncIterator", "Awaitable", "BinaryIO", "ByteString", "Callable",
        "ChainMap", "ClassVar", "Collection", "Concatenate", "Container", "ContextManager",
        "Coroutine", "Counter", "DefaultDict", "Deque", "Dict", "Final", "ForwardRef",
        "FrozenSet", "Generator", "Generic", "Hashable", "IO", "ItemsView", "Iterable",
        "Iterator", "KeysView", "List", "Literal", "LiteralString", "Mapping", "MappingView",
        "Match", "MutableMapping", "MutableSequence", "MutableSet", "NamedTuple", "Never",
        "NewType", "NoReturn", "NotRequired", "Optional", "OrderedDict", "ParamSpec", "Pattern",
        "Protocol", "Required", "Reversible", "Self", "Sequence", "Set", "Sized", "SupportsAbs",
        "SupportsBytes", "SupportsComplex", "SupportsFloat", "SupportsIndex", "SupportsInt",
        "SupportsRound", "TYPE_CHECKING", "Text", "TextIO", "Tuple", "Type", "TypeAlias",
        "TypeGuard", "TypeVar", "TypeVarTuple", "TypedDict", "Union", "Unpack", "ValuesView",
        "assert_never", "assert_type", "cast", "dataclass_transform", "final", "get_args",
        "get_origin", "get_type_hints", "is_typeddict", "no_type_check", "overload",
        "reveal_type", "runtime_checkable",
    ]),
];
