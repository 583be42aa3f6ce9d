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


def NewType(name, kind):
    return lambda value: value


def cast(kind, value):
    return value


def overload(function):
    return function


def final(target):
    return target


def runtime_checkable(cls):
    return cls


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
