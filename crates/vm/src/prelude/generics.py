# Types with others in their brackets, and types joined by `|`.

def _kind_text(kind):
    # How a type is shown inside of another one.
    if isinstance(kind, type):
        return kind.__qualname__ if kind.__module__ == 'builtins' else kind.__module__ + '.' + kind.__qualname__
    if isinstance(kind, list):
        return '[' + ', '.join([_kind_text(one) for one in kind]) + ']'
    return '...' if kind is ... else repr(kind)


def _variables(args):
    # The variables of types in them, each once.
    found = []
    for arg in args:
        if hasattr(type(arg), '_is_variable'):
            inner = [arg]
        elif isinstance(arg, list):
            inner = _variables(arg)
        else:
            inner = arg.__parameters__ if isinstance(arg, (_GenericAlias, _UnionType)) else ()
        found.extend([one for one in inner if one not in found])
    return tuple(found)


def _substitute(arg, table):
    if hasattr(type(arg), '_is_variable'):
        return table.get(arg, arg)
    if isinstance(arg, list):
        return [_substitute(one, table) for one in arg]
    if isinstance(arg, (_GenericAlias, _UnionType)) and arg.__parameters__:
        return arg._with(tuple([_substitute(one, table) for one in arg.__args__]))
    return arg


class _GenericAlias:
    __module__ = 'types'

    def __init__(self, origin, args):
        self.__origin__ = origin
        self.__args__ = args if isinstance(args, tuple) else (args,)

    @property
    def __parameters__(self):
        return _variables(self.__args__)

    def _with(self, args):
        return type(self)(self.__origin__, args)

    def __getitem__(self, key):
        names = self.__parameters__
        key = key if isinstance(key, tuple) else (key,)
        if not names:
            raise TypeError(repr(self) + ' is not a generic class')
        if len(names) != len(key):
            raise TypeError('Too ' + ('many' if len(key) > len(names) else 'few') + ' arguments for ' + repr(self)
                            + '; actual ' + str(len(key)) + ', expected ' + str(len(names)))
        return _substitute(self, dict(zip(names, key)))

    def __call__(self, *args, **kwargs):
        return self.__origin__(*args, **kwargs)

    def __getattr__(self, name):
        return getattr(self.__origin__, name)

    def __mro_entries__(self, bases):
        return (self.__origin__,)

    def __instancecheck__(self, value):
        raise TypeError('isinstance() argument 2 cannot be a parameterized generic')

    def __subclasscheck__(self, cls):
        raise TypeError('issubclass() argument 2 cannot be a parameterized generic')

    def __eq__(self, other):
        if not isinstance(other, _GenericAlias):
            return NotImplemented
        return self.__origin__ is other.__origin__ and self.__args__ == other.__args__

    def __hash__(self):
        return hash((self.__origin__, self.__args__))

    def __or__(self, other):
        return _union(self, other)

    def __ror__(self, other):
        return _union(other, self)

    def __repr__(self):
        inside = ', '.join([_kind_text(arg) for arg in self.__args__])
        return _kind_text(self.__origin__) + '[' + (inside or '()') + ']'


def _flat(kinds):
    # Unions in unions are one; each type counts once.
    found = []
    for kind in kinds:
        if kind is None:
            kind = _NoneType
        for one in (kind.__args__ if isinstance(kind, _UnionType) else (kind,)):
            if one not in found:
                found.append(one)
    return tuple(found)


class _UnionType:
    __module__ = 'types'

    def __init__(self, args):
        self.__args__ = args

    @property
    def __parameters__(self):
        return _variables(self.__args__)

    def _with(self, args):
        return _UnionType(_flat(args))

    def __getitem__(self, key):
        return _GenericAlias.__getitem__(self, key)

    def __instancecheck__(self, value):
        for kind in self.__args__:
            if isinstance(value, kind):
                return True
        return False

    def __subclasscheck__(self, cls):
        for kind in self.__args__:
            if issubclass(cls, kind):
                return True
        return False

    def __eq__(self, other):
        if not isinstance(other, _UnionType):
            return NotImplemented
        return set(self.__args__) == set(other.__args__)

    def __hash__(self):
        return hash(frozenset(self.__args__))

    def __or__(self, other):
        return _union(self, other)

    def __ror__(self, other):
        return _union(other, self)

    def __repr__(self):
        return ' | '.join(['None' if kind is _NoneType else _kind_text(kind) for kind in self.__args__])


_NoneType = type(None)
_GenericAlias.__name__ = _GenericAlias.__qualname__ = 'GenericAlias'
_UnionType.__name__ = _UnionType.__qualname__ = 'UnionType'


def _union(left, right):
    for kind in (left, right):
        if not (kind is None or isinstance(kind, (type, _GenericAlias, _UnionType))):
            return NotImplemented
    kinds = _flat((left, right))
    return kinds[0] if len(kinds) == 1 else _UnionType(kinds)


def _isinstance(value, kinds):
    # What only Python can tell: one of several, or what a class says of others.
    if isinstance(kinds, tuple):
        for kind in kinds:
            if isinstance(value, kind):
                return True
        return False
    return _hooked(type(value), kinds)


def _issubclass(cls, kinds):
    if isinstance(kinds, tuple):
        for kind in kinds:
            if issubclass(cls, kind):
                return True
        return False
    return _hooked(cls, kinds)


def _hooked(cls, kind):
    said = kind.__subclasshook__(cls)
    if said is NotImplemented:
        return _class_is(cls, kind)
    return bool(said)


def _class_getitem(cls, key):
    method = getattr(cls, '__class_getitem__', None)
    if method is not None:
        return method(key)
    if cls in (list, dict, set, tuple, frozenset, type):
        return _GenericAlias(cls, key)
    raise TypeError("type '" + cls.__name__ + "' is not subscriptable")


class _Subscripted:
    def __class_getitem__(cls, key):
        return _GenericAlias(cls, key)


def _dataclass_doc(cls):
    # What a dataclass without a docstring says of itself: how it is called.
    missing, fields = cls.__dataclass_parameters__
    shown = []
    for one in sorted(fields, key=lambda one: one.kw_only):
        if one.kw_only and '*' not in shown:
            shown.append('*')
        kind = one.type
        text = one.name + ': ' + (repr(kind) if isinstance(kind, str) else _kind_text(kind).replace('typing.', ''))
        if one.default_factory is not missing:
            text += ' = <factory>'
        elif one.default is not missing:
            text += ' = ' + repr(one.default)
        shown.append(text)
    return cls.__name__ + '(' + ', '.join(shown) + ')'
