# What stands in annotations. Nothing is checked by it.
import collections as _collections
import collections.abc as _abc
from abc import ABCMeta as _ABCMeta


def _argument(kind):
    # As it is kept: None is its type, a text a type that is not there yet.
    if kind is None:
        return _NoneType
    return ForwardRef(kind) if isinstance(kind, str) else kind


def _arguments(key):
    return tuple([_argument(kind) for kind in (key if isinstance(key, tuple) else (key,))])


class ForwardRef:
    def __init__(self, arg):
        self.__forward_arg__ = arg

    def __eq__(self, other):
        return isinstance(other, ForwardRef) and self.__forward_arg__ == other.__forward_arg__

    def __hash__(self):
        return hash(('ForwardRef', self.__forward_arg__))

    def __or__(self, other):
        return Union[self, other]

    def __ror__(self, other):
        return Union[other, self]

    def __repr__(self):
        return 'ForwardRef(' + repr(self.__forward_arg__) + ')'


class _Form:
    # A name that means something by itself or with types in brackets.
    def __init__(self, name):
        self._name = name

    def __getitem__(self, key):
        name = self._name
        if name == 'Optional':
            return Union[key, None]
        if name == 'Union':
            return _join(_arguments(key))
        if name == 'Literal':
            return _Filled(self, key if isinstance(key, tuple) else (key,))
        if name == 'Annotated':
            return _Noted(_argument(key[0]), key[1:])
        return _Filled(self, _arguments(key))

    def __call__(self, *args, **kwargs):
        raise TypeError('Cannot instantiate ' + repr(self))

    def __instancecheck__(self, value):
        raise TypeError(repr(self) + ' cannot be used with isinstance()')

    def __subclasscheck__(self, cls):
        raise TypeError(repr(self) + ' cannot be used with issubclass()')

    def __or__(self, other):
        return Union[self, other]

    def __ror__(self, other):
        return Union[other, self]

    def __mro_entries__(self, bases):
        return ()

    def __repr__(self):
        return 'typing.' + self._name


class _Filled(_GenericAlias):
    # A form with types in its brackets.
    def __or__(self, other):
        return Union[self, other]

    def __ror__(self, other):
        return Union[other, self]

    def __instancecheck__(self, value):
        if self.__origin__ is Union:
            return isinstance(value, self.__args__)
        raise TypeError('Subscripted generics cannot be used with class and instance checks')

    def __subclasscheck__(self, cls):
        if self.__origin__ is Union:
            return issubclass(cls, self.__args__)
        raise TypeError('Subscripted generics cannot be used with class and instance checks')

    def __eq__(self, other):
        if self.__origin__ is Union and isinstance(other, (_Filled, _UnionType)):
            return set(self.__args__) == set(other.__args__)
        return super().__eq__(other)

    def __hash__(self):
        return hash(frozenset(self.__args__)) if self.__origin__ is Union else super().__hash__()

    def _with(self, args):
        return _join(args) if self.__origin__ is Union else type(self)(self.__origin__, args)

    def __mro_entries__(self, bases):
        if self.__origin__ is not Generic:
            return (self.__origin__,) if isinstance(self.__origin__, type) else ()
        # Another base brings it along.
        for base in bases:
            kind = getattr(base, '__origin__', base)
            if base is not self and isinstance(kind, type) and issubclass(kind, Generic):
                return ()
        return (Generic,)

    def __repr__(self):
        args = self.__args__
        if self.__origin__ is Union and len(args) == 2 and _NoneType in args:
            return 'typing.Optional[' + _kind_text(args[0] if args[1] is _NoneType else args[1]) + ']'
        return _kind_text(self.__origin__) + '[' + ', '.join([_kind_text(arg) for arg in args]) + ']'


class _Noted(_Filled):
    # Annotated.
    def __init__(self, kind, notes):
        self.__origin__ = kind
        self.__args__ = (kind,)
        self.__metadata__ = notes

    def _with(self, args):
        return _Noted(args[0], self.__metadata__)

    def __repr__(self):
        return 'typing.Annotated[' + ', '.join([_kind_text(self.__origin__)] + [repr(note) for note in self.__metadata__]) + ']'


class _Named(_Filled):
    # Names for types that are elsewhere, such as List, and those with types in their brackets.
    def __init__(self, name, origin, args=None, made=False):
        self._name = name
        self.__origin__ = origin
        self.__args__ = () if args is None else args
        self._bare = args is None
        self._made = made

    def _with(self, args):
        return _Named(self._name, self.__origin__, args, self._made)

    def __getitem__(self, key):
        if not self._bare:
            return _GenericAlias.__getitem__(self, key)
        if self._name == 'Callable':
            inside, result = key
            args = _arguments(tuple(inside)) if isinstance(inside, list) else (inside,)
            return self._with(args + _arguments(result))
        return self._with(() if key == () else _arguments(key))

    def __call__(self, *args, **kwargs):
        if not self._made:
            raise TypeError('Type ' + self._name + ' cannot be instantiated; use ' + self.__origin__.__name__ + '() instead')
        return self.__origin__(*args, **kwargs)

    def __instancecheck__(self, value):
        return isinstance(value, self.__origin__) if self._bare else super().__instancecheck__(value)

    def __subclasscheck__(self, cls):
        return issubclass(cls, self.__origin__) if self._bare else super().__subclasscheck__(cls)

    def __repr__(self):
        name = 'typing.' + self._name
        if self._bare:
            return name
        shown = [_kind_text(arg) for arg in self.__args__]
        if self._name == 'Callable' and self.__args__[0] is not ...:
            shown = ['[' + ', '.join(shown[:-1]) + ']', shown[-1]]
        return name + '[' + (', '.join(shown) or '()') + ']'


def _join(kinds):
    found = []
    for kind in kinds:
        inner = (kind,)
        if isinstance(kind, _UnionType) or isinstance(kind, _Filled) and kind.__origin__ is Union:
            inner = kind.__args__
        for one in inner:
            if one not in found:
                found.append(one)
    return found[0] if len(found) == 1 else _Filled(Union, tuple(found))


class Generic:
    def __class_getitem__(cls, key):
        return _Filled(cls, _arguments(key))


def _no_init(self, *args, **kwargs):
    kind = type(self)
    if kind._is_protocol:
        raise TypeError('Protocols cannot be instantiated')
    for base in kind.__mro__:
        init = base.__dict__.get('__init__')
        if init is not None and init is not _no_init:
            init(self, *args, **kwargs)
            break


class Protocol(Generic, metaclass=_ABCMeta):
    _is_protocol = True

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        cls._is_protocol = Protocol in cls.__bases__
        if cls._is_protocol:
            cls._protocol = None
            if '__init__' not in cls.__dict__:
                cls.__init__ = _no_init


for _name in ('Any', 'Union', 'Optional', 'ClassVar', 'Final', 'Literal', 'Annotated', 'NoReturn', 'Never', 'Self', 'TypeAlias',
              'Concatenate', 'LiteralString', 'Required', 'NotRequired', 'Unpack', 'TypeGuard', 'IO', 'TextIO', 'BinaryIO',
              'Pattern', 'Match', 'ContextManager', 'AsyncContextManager', 'SupportsComplex'):
    globals()[_name] = _Form(_name)
for _name in ('Iterable', 'Iterator', 'Generator', 'Sequence', 'MutableSequence', 'Mapping', 'MutableMapping', 'Hashable', 'Sized',
              'Collection', 'Container', 'Awaitable', 'Coroutine', 'AsyncIterable', 'AsyncIterator', 'AsyncGenerator',
              'Reversible', 'ItemsView', 'KeysView', 'ValuesView', 'MappingView', 'MutableSet', 'ByteString', 'Callable'):
    globals()[_name] = _Named(_name, getattr(_abc, _name))
for _name, _kind in (('List', list), ('Dict', dict), ('Set', set), ('FrozenSet', frozenset), ('Tuple', tuple), ('Type', type)):
    globals()[_name] = _Named(_name, _kind)
for _name in ('Counter', 'ChainMap', 'OrderedDict'):
    globals()[_name] = _Named(_name, getattr(_collections, _name), None, True)
Deque = _Named('Deque', _collections.deque, None, True)
DefaultDict = _Named('DefaultDict', _collections.defaultdict, None, True)
AbstractSet = _Named('AbstractSet', _abc.Set)
Text = str
TYPE_CHECKING = False
