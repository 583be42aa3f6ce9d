# Annotations are text and never checked; these names only have to be there.

class _Form:
    def __init__(self, name):
        self._name = name

    def __getitem__(self, key):
        return self

    def __call__(self, *args, **kwargs):
        return self

    def __or__(self, other):
        return self

    def __ror__(self, other):
        return self

    def __mro_entries__(self, bases):
        return ()

    def __repr__(self):
        return 'typing.' + self._name


class Generic:
    def __class_getitem__(cls, key):
        return cls


class Protocol(Generic):
    pass


Any = _Form('Any')
Union = _Form('Union')
Optional = _Form('Optional')
Callable = _Form('Callable')
ClassVar = _Form('ClassVar')
Final = _Form('Final')
Literal = _Form('Literal')
Annotated = _Form('Annotated')
NoReturn = _Form('NoReturn')
Never = _Form('Never')
Self = _Form('Self')
TypeAlias = _Form('TypeAlias')
Iterable = _Form('Iterable')
Iterator = _Form('Iterator')
Generator = _Form('Generator')
Sequence = _Form('Sequence')
MutableSequence = _Form('MutableSequence')
Mapping = _Form('Mapping')
MutableMapping = _Form('MutableMapping')
Hashable = _Form('Hashable')
Sized = _Form('Sized')
Collection = _Form('Collection')
Container = _Form('Container')
Awaitable = _Form('Awaitable')
Coroutine = _Form('Coroutine')
AsyncIterator = _Form('AsyncIterator')
Reversible = _Form('Reversible')
SupportsInt = _Form('SupportsInt')
SupportsFloat = _Form('SupportsFloat')
Concatenate = _Form('Concatenate')
Counter = _Form('Counter')
DefaultDict = _Form('DefaultDict')
Deque = _Form('Deque')
OrderedDict = _Form('OrderedDict')
AbstractSet = _Form('AbstractSet')
SupportsAbs = _Form('SupportsAbs')
SupportsIndex = _Form('SupportsIndex')
SupportsBytes = _Form('SupportsBytes')
SupportsRound = _Form('SupportsRound')
SupportsComplex = _Form('SupportsComplex')
IO = _Form('IO')
TextIO = _Form('TextIO')
BinaryIO = _Form('BinaryIO')
Pattern = _Form('Pattern')
Match = _Form('Match')
LiteralString = _Form('LiteralString')
Required = _Form('Required')
NotRequired = _Form('NotRequired')
Unpack = _Form('Unpack')
ContextManager = _Form('ContextManager')
AsyncContextManager = _Form('AsyncContextManager')
AsyncIterable = _Form('AsyncIterable')
AsyncGenerator = _Form('AsyncGenerator')
ChainMap = _Form('ChainMap')
ItemsView = _Form('ItemsView')
KeysView = _Form('KeysView')
ValuesView = _Form('ValuesView')
MappingView = _Form('MappingView')
MutableSet = _Form('MutableSet')
ByteString = _Form('ByteString')
ForwardRef = _Form('ForwardRef')
TypeGuard = _Form('TypeGuard')
Text = str
AnyStr = _Form('AnyStr')
List = list
Dict = dict
Set = set
FrozenSet = frozenset
Tuple = tuple
Type = type
TYPE_CHECKING = False


def TypeVar(name, *args, **kwargs):
    return _Form(name)


def ParamSpec(name, **kwargs):
    return _Form(name)


def TypeVarTuple(name, **kwargs):
    return _Form(name)


def NewType(name, kind):
    return lambda value: value


def cast(kind, value):
    return value


def overload(function):
    return function


def final(target):
    return target


def runtime_checkable(cls):
    # From now on isinstance looks for what the protocol's own body names.
    names = []
    for base in cls.__mro__:
        if base is object or base in (Generic, Protocol):
            continue
        for name in base.__dict__:
            if name not in names and not name.startswith('_') or name in _PROTOCOL_METHODS:
                names.append(name)
    cls._protocol = tuple(names)
    return cls


_PROTOCOL_METHODS = ('__iter__', '__next__', '__len__', '__getitem__', '__setitem__', '__delitem__', '__contains__',
                     '__call__', '__enter__', '__exit__', '__int__', '__float__', '__index__', '__abs__', '__round__',
                     '__bool__', '__lt__', '__le__', '__gt__', '__ge__', '__add__', '__sub__', '__mul__',
                     '__await__', '__aiter__', '__anext__', '__reversed__')


def assert_never(value, /):
    raise AssertionError('Expected code to be unreachable, but got: ' + repr(value))


def assert_type(value, kind, /):
    return value


def reveal_type(value, /):
    return value


def dataclass_transform(**options):
    return lambda target: target


def get_origin(kind):
    return None


def get_args(kind):
    return ()


def is_typeddict(kind):
    return isinstance(kind, type) and issubclass(kind, TypedDict)


def no_type_check(target):
    return target


def get_type_hints(target):
    return dict(getattr(target, '__annotations__', {}))


class _NamedTupleMeta(type):
    def __new__(meta, name, bases, namespace):
        import collections
        if not bases or namespace.get('_root'):
            return type.__new__(meta, name, bases, namespace)
        fields = list(namespace.get('__annotations__', {}))
        defaults = [namespace[field] for field in fields if field in namespace]
        base = collections.namedtuple(name, fields, defaults=defaults)
        more = {key: value for key, value in namespace.items() if key not in fields}
        return type.__new__(type, name, (base,), more)

    def __init__(cls, name, bases, namespace):
        pass

    def __call__(cls, name, fields):
        import collections
        return collections.namedtuple(name, [field for field, kind in fields])


class NamedTuple(metaclass=_NamedTupleMeta):
    _root = True


class TypedDict(dict):
    def __init_subclass__(cls, **kwargs):
        pass
