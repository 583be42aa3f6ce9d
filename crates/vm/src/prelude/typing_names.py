# What programs name and ask: variables of types, records, protocols, hints.

class TypeVar:
    _is_variable = True

    def __init__(self, name, *constraints, bound=None, covariant=False, contravariant=False):
        self.__name__ = name
        self.__constraints__ = _arguments(constraints)
        self.__bound__ = None if bound is None else _argument(bound)
        self.__covariant__ = covariant
        self.__contravariant__ = contravariant

    def __or__(self, other):
        return Union[self, other]

    def __ror__(self, other):
        return Union[other, self]

    def __repr__(self):
        return ('+' if self.__covariant__ else '-' if self.__contravariant__ else '~') + self.__name__


class ParamSpec(TypeVar):
    @property
    def args(self):
        return _Form(self.__name__ + '.args')

    @property
    def kwargs(self):
        return _Form(self.__name__ + '.kwargs')


class TypeVarTuple(TypeVar):
    def __iter__(self):
        yield Unpack[self]

    def __repr__(self):
        return self.__name__


AnyStr = TypeVar('AnyStr', bytes, str)


class NewType:
    def __init__(self, name, kind):
        self.__name__ = self.__qualname__ = name
        self.__supertype__ = kind

    def __call__(self, value):
        return value

    def __or__(self, other):
        return Union[self, other]

    def __ror__(self, other):
        return Union[other, self]

    def __repr__(self):
        return '__main__.' + self.__name__


def cast(kind, value):
    return value


def overload(function):
    return function


def final(target):
    return target


_PROTOCOL_METHODS = ('__iter__', '__next__', '__len__', '__getitem__', '__setitem__', '__delitem__', '__contains__',
                     '__call__', '__enter__', '__exit__', '__int__', '__float__', '__index__', '__abs__', '__round__',
                     '__bool__', '__lt__', '__le__', '__gt__', '__ge__', '__add__', '__sub__', '__mul__',
                     '__await__', '__aiter__', '__anext__', '__reversed__', '__bytes__', '__complex__')


def runtime_checkable(cls):
    # From now on isinstance looks for what the protocol's own body names.
    if not getattr(cls, '_is_protocol', False):
        raise TypeError('@runtime_checkable can be only applied to protocol classes, got ' + repr(cls))
    names = []
    for base in cls.__mro__:
        if base in (object, Generic, Protocol):
            continue
        for name in [*base.__dict__, *base.__dict__.get('__annotations__', ())]:
            if name not in names and not name.startswith('_') or name in _PROTOCOL_METHODS:
                names.append(name)
    cls._protocol = tuple(names)
    return cls


def _supports(name, method):
    cls = _ABCMeta(name, (Protocol,), {'__module__': 'typing'})
    cls._protocol = (method,)
    return cls


SupportsInt = _supports('SupportsInt', '__int__')
SupportsFloat = _supports('SupportsFloat', '__float__')
SupportsIndex = _supports('SupportsIndex', '__index__')
SupportsAbs = _supports('SupportsAbs', '__abs__')
SupportsRound = _supports('SupportsRound', '__round__')
SupportsBytes = _supports('SupportsBytes', '__bytes__')


def assert_never(value, /):
    raise AssertionError('Expected code to be unreachable, but got: ' + repr(value))


def assert_type(value, kind, /):
    return value


def reveal_type(value, /):
    return value


def dataclass_transform(**options):
    return lambda target: target


def no_type_check(target):
    return target


def get_origin(kind):
    if isinstance(kind, _Noted):
        return Annotated
    if isinstance(kind, _GenericAlias):
        return kind.__origin__
    return type(kind) if isinstance(kind, _UnionType) else Generic if kind is Generic else None


def get_args(kind):
    if isinstance(kind, _Noted):
        return (kind.__origin__,) + kind.__metadata__
    if isinstance(kind, _Named) and kind._name == 'Callable' and kind.__args__ and kind.__args__[0] is not ...:
        return (list(kind.__args__[:-1]), kind.__args__[-1])
    return kind.__args__ if isinstance(kind, (_GenericAlias, _UnionType)) else ()


def is_typeddict(kind):
    return isinstance(kind, _TypedMeta) and kind is not TypedDict


def _pieces(text, mark):
    # Parts between marks that stand in no brackets.
    parts = []
    part = ''
    depth = 0
    for char in text:
        if char == mark and depth == 0:
            parts.append(part)
            part = ''
            continue
        depth += (char in '[(') - (char in '])')
        part += char
    return parts + [part] if part.strip() else parts


def _meant(text, look):
    # What a text in an annotation means.
    text = text.strip()
    either = _pieces(text, '|')
    if len(either) > 1:
        kinds = [_meant(part, look) for part in either]
        whole = kinds[0]
        for kind in kinds[1:]:
            whole = whole | kind
        return whole
    if text[:1] in ('"', "'"):
        return _meant(text[1:-1], look)
    if text == 'None':
        return None
    if text == '...':
        return ...
    if text.startswith('['):
        return [_meant(part, look) for part in _pieces(text[1:-1], ',')]
    if text.endswith(']'):
        name, _, inside = text[:-1].partition('[')
        if name.rpartition('.')[2] == 'Literal':
            return Literal[tuple([part.strip().strip('\'"') for part in _pieces(inside, ',')])]
        args = tuple([_meant(part, look) for part in _pieces(inside, ',')])
        return _meant(name, look)[args if len(args) > 1 else args[0]]
    first, *rest = text.split('.')
    found = look(first)
    for name in rest:
        found = getattr(found, name)
    return found


def _known(kind, look, extras):
    if kind is None:
        return _NoneType
    if isinstance(kind, str):
        return _known(_meant(kind, look), look, extras)
    if isinstance(kind, ForwardRef):
        return _known(_meant(kind.__forward_arg__, look), look, extras)
    if isinstance(kind, _Noted) and not extras:
        return _known(kind.__origin__, look, extras)
    if isinstance(kind, (_GenericAlias, _UnionType)) and get_origin(kind) is not Literal:
        args = tuple([_known(arg, look, extras) if isinstance(arg, (str, ForwardRef, _GenericAlias, _UnionType)) else arg
                      for arg in kind.__args__])
        return kind if args == kind.__args__ else kind._with(args)
    return kind


def get_type_hints(target, globalns=None, localns=None, include_extras=False):
    def look(name):
        for table in (localns, globalns):
            if table is not None and name in table:
                return table[name]
        return _resolve(target, name)
    if isinstance(target, type):
        found = {}
        for base in reversed(target.__mro__):
            found.update(base.__dict__.get('__annotations__', {}))
    else:
        while hasattr(target, '__wrapped__'):
            target = target.__wrapped__
        found = getattr(target, '__annotations__', None)
        if found is None:
            raise TypeError(repr(target) + ' is not a module, class, method, or function.')
    return {name: _known(kind, look, include_extras) for name, kind in found.items()}


class _NamedTupleMeta(type):
    def __new__(meta, name, bases, namespace):
        if not bases or namespace.get('_root'):
            return type.__new__(meta, name, bases, namespace)
        kinds = {key: _argument(kind) for key, kind in namespace.get('__annotations__', {}).items()}
        fields = list(kinds)
        defaults = []
        for field in fields:
            if field in namespace:
                defaults.append(namespace[field])
            elif defaults:
                raise TypeError('Non-default namedtuple field ' + field + ' cannot follow default field'
                                + ('s ' if len(defaults) > 1 else ' ')
                                + ', '.join([one for one in fields if one in namespace][:len(defaults)]))
        base = _collections.namedtuple(name, fields, defaults=defaults)
        more = {key: value for key, value in namespace.items() if key not in fields}
        more['__annotations__'] = kinds
        return type.__new__(type, name, (base,), more)

    def __init__(cls, name, bases, namespace):
        pass

    def __call__(cls, name, fields):
        made = _collections.namedtuple(name, [field for field, kind in fields])
        made.__annotations__ = dict(fields)
        return made


class NamedTuple(metaclass=_NamedTupleMeta):
    _root = True


class _TypedMeta(type):
    # Its classes make plain dicts.
    def __new__(meta, name, bases, namespace, total=True):
        kinds = {}
        optional = set()
        for base in bases:
            kinds.update(base.__dict__.get('__annotations__', {}))
            optional |= base.__dict__.get('__optional_keys__', frozenset())
        own = {key: _argument(kind) for key, kind in namespace.get('__annotations__', {}).items()}
        for key, kind in own.items():
            form = get_origin(kind)
            if form is NotRequired or not total and form is not Required:
                optional.add(key)
        kinds.update(own)
        made = type.__new__(meta, name, (dict,) if bases else (), {**namespace, '__annotations__': kinds})
        made.__total__ = total
        made.__optional_keys__ = frozenset(optional)
        made.__required_keys__ = frozenset([key for key in kinds if key not in optional])
        return made

    def __init__(cls, name, bases, namespace, total=True):
        pass

    def __call__(cls, *args, **kwargs):
        if cls is TypedDict:
            name, fields = args
            return _TypedMeta(name, (TypedDict,), {'__annotations__': dict(fields)}, **kwargs)
        return dict(*args, **kwargs)

    def __instancecheck__(cls, value):
        raise TypeError('TypedDict does not support instance and class checks')

    def __subclasscheck__(cls, other):
        raise TypeError('TypedDict does not support instance and class checks')


class TypedDict(metaclass=_TypedMeta):
    pass
