//! Builtin types and the names that the interpreter itself uses. Both have fixed places in the heap,
//! in this order, so that finding one needs no look-up.

use super::value::Handle;

macro_rules! known_names {
    ($($name:ident $text:literal)*) => {
        #[allow(clippy::upper_case_acronyms, non_camel_case_types)]
        #[repr(u32)]
        enum Known { $($name),* }
        #[allow(dead_code)]
        pub(crate) mod name {
            use super::{Handle, Known};
            $(pub(crate) const $name: Handle = Handle(Known::$name as u32);)*
        }
        pub(crate) const NAMES: &[&str] = &[$($text),*];
    };
}

known_names! {
    INIT "__init__" NEW "__new__" REPR "__repr__" STR "__str__" FORMAT "__format__"
    EQ "__eq__" NE "__ne__" LT "__lt__" LE "__le__" GT "__gt__" GE "__ge__" HASH "__hash__"
    BOOL "__bool__" LEN "__len__" CALL "__call__" ITER "__iter__" NEXT "__next__"
    GETITEM "__getitem__" SETITEM "__setitem__" DELITEM "__delitem__" CONTAINS "__contains__"
    GETATTR "__getattr__" GETATTRIBUTE "__getattribute__" SETATTR "__setattr__" DELATTR "__delattr__"
    GET "__get__" SET "__set__" DELETE "__delete__"
    ENTER "__enter__" EXIT "__exit__" AWAIT "__await__" AENTER "__aenter__" AEXIT "__aexit__"
    ADD "__add__" SUB "__sub__" MUL "__mul__" TRUEDIV "__truediv__" FLOORDIV "__floordiv__"
    MOD "__mod__" POW "__pow__" LSHIFT "__lshift__" RSHIFT "__rshift__" AND "__and__" OR "__or__"
    XOR "__xor__" MATMUL "__matmul__"
    RADD "__radd__" RSUB "__rsub__" RMUL "__rmul__" RTRUEDIV "__rtruediv__"
    RFLOORDIV "__rfloordiv__" RMOD "__rmod__" RPOW "__rpow__" RLSHIFT "__rlshift__"
    RRSHIFT "__rrshift__" RAND "__rand__" ROR "__ror__" RXOR "__rxor__" RMATMUL "__rmatmul__"
    IADD "__iadd__" ISUB "__isub__" IMUL "__imul__" ITRUEDIV "__itruediv__"
    IFLOORDIV "__ifloordiv__" IMOD "__imod__" IPOW "__ipow__" ILSHIFT "__ilshift__"
    IRSHIFT "__irshift__" IAND "__iand__" IOR "__ior__" IXOR "__ixor__" IMATMUL "__imatmul__"
    NEG "__neg__" POS "__pos__" INVERT "__invert__" ABS "__abs__" INT "__int__" FLOAT "__float__"
    INDEX "__index__" ROUND "__round__" REVERSED "__reversed__" MISSING "__missing__"
    CLASS "__class__" DICT "__dict__" NAME "__name__" QUALNAME "__qualname__" MODULE "__module__"
    DOC "__doc__" BASES "__bases__" MRO "__mro__" ARGS "args" CAUSE "__cause__"
    CONTEXT "__context__" TRACEBACK "__traceback__" SUPPRESS "__suppress_context__"
    ANNOTATIONS "__annotations__" FUNC "__func__" SELF "__self__" DEFAULTS "__defaults__"
    KWDEFAULTS "__kwdefaults__"
    VALUE "value" MATCH_ARGS "__match_args__" SLOTS "__slots__" WRAPPED "__wrapped__"
    START "start" STOP "stop" STEP "step" MAIN "__main__" CODE "__code__"
    FGET "fget" FSET "fset" FDEL "fdel" SEND "send" THROW "throw" CLOSE "close"
    INSTANCECHECK "__instancecheck__" SUBCLASSCHECK "__subclasscheck__"
    NOTES "__notes__" ABSTRACT "__abstractmethods__" COPY "__copy__" KEYS "keys" BYTES "__bytes__"
    PROTOCOL "_protocol" REGISTRY "_abc_registry" SUBCLASSHOOK "__subclasshook__"
    DATACLASS "__dataclass_parameters__" BASE "__base__"
}

macro_rules! types {
    ($($variant:ident $text:literal $parent:ident)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        // Python's own names.
        #[allow(clippy::enum_variant_names)]
        #[repr(u32)]
        pub(crate) enum Type { $($variant),* }
        /// Each type with its name and its base.
        pub(crate) const TYPES: &[(Type, &str, Type)] = &[$((Type::$variant, $text, Type::$parent)),*];
    };
}

types! {
    Object "object" Object
    Type "type" Object
    NoneType "NoneType" Object
    NotImplementedType "NotImplementedType" Object
    EllipsisType "ellipsis" Object
    Int "int" Object
    Bool "bool" Int
    Float "float" Object
    Str "str" Object
    Bytes "bytes" Object
    ByteArray "bytearray" Object
    List "list" Object
    Tuple "tuple" Object
    Dict "dict" Object
    Set "set" Object
    FrozenSet "frozenset" Object
    Range "range" Object
    Slice "slice" Object
    Function "function" Object
    Native "builtin_function_or_method" Object
    Method "method" Object
    Generator "generator" Object
    Coroutine "coroutine" Object
    AsyncGenerator "async_generator" Object
    Iterator "iterator" Object
    Enumerate "enumerate" Object
    Zip "zip" Object
    Reversed "reversed" Object
    DictKeys "dict_keys" Object
    DictValues "dict_values" Object
    DictItems "dict_items" Object
    Module "module" Object
    Property "property" Object
    StaticMethod "staticmethod" Object
    ClassMethod "classmethod" Object
    Super "super" Object
    Cell "cell" Object
    Pending "awaitable" Object
    BaseException "BaseException" Object
    Exception "Exception" BaseException
    GeneratorExit "GeneratorExit" BaseException
    KeyboardInterrupt "KeyboardInterrupt" BaseException
    SystemExit "SystemExit" BaseException
    ArithmeticError "ArithmeticError" Exception
    ZeroDivisionError "ZeroDivisionError" ArithmeticError
    OverflowError "OverflowError" ArithmeticError
    FloatingPointError "FloatingPointError" ArithmeticError
    AssertionError "AssertionError" Exception
    AttributeError "AttributeError" Exception
    BufferError "BufferError" Exception
    EOFError "EOFError" Exception
    ImportError "ImportError" Exception
    ModuleNotFoundError "ModuleNotFoundError" ImportError
    LookupError "LookupError" Exception
    IndexError "IndexError" LookupError
    KeyError "KeyError" LookupError
    MemoryError "MemoryError" Exception
    NameError "NameError" Exception
    UnboundLocalError "UnboundLocalError" NameError
    OSError "OSError" Exception
    FileNotFoundError "FileNotFoundError" OSError
    PermissionError "PermissionError" OSError
    ConnectionError "ConnectionError" OSError
    TimeoutError "TimeoutError" OSError
    RuntimeError "RuntimeError" Exception
    NotImplementedError "NotImplementedError" RuntimeError
    RecursionError "RecursionError" RuntimeError
    StopIteration "StopIteration" Exception
    StopAsyncIteration "StopAsyncIteration" Exception
    SyntaxError "SyntaxError" Exception
    TypeError "TypeError" Exception
    ValueError "ValueError" Exception
    UnicodeError "UnicodeError" ValueError
    UnicodeDecodeError "UnicodeDecodeError" UnicodeError
    UnicodeEncodeError "UnicodeEncodeError" UnicodeError
    Warning "Warning" Exception
    UserWarning "UserWarning" Warning
    DeprecationWarning "DeprecationWarning" Warning
    RuntimeWarning "RuntimeWarning" Warning
    SyntaxWarning "SyntaxWarning" Warning
    FutureWarning "FutureWarning" Warning
    ImportWarning "ImportWarning" Warning
    UnicodeWarning "UnicodeWarning" Warning
    BytesWarning "BytesWarning" Warning
    ResourceWarning "ResourceWarning" Warning
    PendingDeprecationWarning "PendingDeprecationWarning" Warning
    FileExistsError "FileExistsError" OSError
    IsADirectoryError "IsADirectoryError" OSError
    NotADirectoryError "NotADirectoryError" OSError
    InterruptedError "InterruptedError" OSError
    BlockingIOError "BlockingIOError" OSError
    ChildProcessError "ChildProcessError" OSError
    ProcessLookupError "ProcessLookupError" OSError
    BrokenPipeError "BrokenPipeError" ConnectionError
    ConnectionAbortedError "ConnectionAbortedError" ConnectionError
    ConnectionRefusedError "ConnectionRefusedError" ConnectionError
    ConnectionResetError "ConnectionResetError" ConnectionError
    SystemError "SystemError" Exception
    ReferenceError "ReferenceError" Exception
    IndentationError "IndentationError" SyntaxError
    TabError "TabError" IndentationError
    UnicodeTranslateError "UnicodeTranslateError" UnicodeError
}

/// The str of one ASCII character: they come after the types.
pub(crate) const fn ascii(char: u8) -> Handle {
    Handle((NAMES.len() + TYPES.len()) as u32 + char as u32)
}

impl Type {
    /// Where its class object is.
    pub(crate) const fn handle(self) -> Handle {
        Handle(NAMES.len() as u32 + self as u32)
    }

    pub(crate) const fn name(self) -> &'static str {
        TYPES[self as usize].1
    }

    pub(crate) fn is_exception(self) -> bool {
        self >= Type::BaseException
    }
}
