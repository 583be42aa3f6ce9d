from copy import deepcopy as _deepcopy


class _Missing:
    def __repr__(self):
        return 'MISSING'


MISSING = _Missing()


class FrozenInstanceError(AttributeError):
    pass


class Field:
    def __init__(self, default, default_factory, init, repr, compare, hash, kw_only, metadata=None):
        self.name = None
        self.type = None
        self.default = default
        self.default_factory = default_factory
        self.init = init
        self.repr = repr
        self.compare = compare
        self.hash = hash
        self.kw_only = kw_only
        self.metadata = {} if metadata is None else metadata


def field(*, default=MISSING, default_factory=MISSING, init=True, repr=True, hash=None, compare=True, metadata=None, kw_only=False):
    return Field(default, default_factory, init, repr, compare, hash, kw_only, metadata)


def _order(name, function):
    def compare(self, other):
        if type(self) is not type(other):
            return NotImplemented
        return function(_values(self), _values(other))
    compare.__name__ = name
    return compare


def _values(self):
    return tuple([getattr(self, one.name) for one in self.__dataclass_fields__.values() if one.compare])


def _make_init(cls, fields, frozen):
    ordered = [one for one in fields if one.init and not one.kw_only]
    names = [one.name for one in ordered]
    set_attr = object.__setattr__
    post = hasattr(cls, '__post_init__')
    init_only = cls.__dataclass_init_only__

    def __init__(self, /, *args, **kwargs):
        if len(args) > len(names):
            least = len([one for one in ordered if one.default is MISSING and one.default_factory is MISSING])
            most = str(len(names) + 1)
            takes = most if least == len(names) else 'from ' + str(least + 1) + ' to ' + most
            raise TypeError(cls.__name__ + '.__init__() takes ' + takes + ' positional argument' + ('' if takes == '1' else 's')
                            + ' but ' + str(len(args) + 1) + ' were given')
        given = dict(zip(names, args))
        for key in kwargs:
            if key in given:
                raise TypeError(cls.__name__ + ".__init__() got multiple values for argument '" + key + "'")
            given[key] = kwargs[key]
        missing = []
        extra = []
        for one in fields:
            name = one.name
            if one.init and name in given:
                value = given.pop(name)
            elif one.default_factory is not MISSING:
                value = one.default_factory()
            elif one.default is not MISSING:
                value = one.default
            elif one.init:
                missing.append(name)
                continue
            else:
                continue
            if name in init_only:
                extra.append(value)
            else:
                set_attr(self, name, value)
        if given:
            raise TypeError(cls.__name__ + ".__init__() got an unexpected keyword argument '" + list(given)[0] + "'")
        if missing:
            quoted = ["'" + name + "'" for name in missing]
            if len(quoted) > 2:
                text = ', '.join(quoted[:-1]) + ', and ' + quoted[-1]
            else:
                text = ' and '.join(quoted)
            raise TypeError(cls.__name__ + '.__init__() missing ' + str(len(missing)) + ' required positional argument' + ('' if len(missing) == 1 else 's') + ': ' + text)
        if post:
            self.__post_init__(*extra)
    return __init__


def _repr(self):
    if _showing(self):
        return '...'
    shown = [one.name + '=' + repr(getattr(self, one.name)) for one in self.__dataclass_fields__.values() if one.repr]
    return type(self).__qualname__ + '(' + ', '.join(shown) + ')'


def _eq(self, other):
    if type(self) is not type(other):
        return NotImplemented
    return _values(self) == _values(other)


def _hash(self):
    return hash(tuple([getattr(self, one.name) for one in self.__dataclass_fields__.values()
                       if (one.compare if one.hash is None else one.hash)]))


def _frozen_set(self, name, value):
    raise FrozenInstanceError("cannot assign to field '" + name + "'")


def _frozen_delete(self, name):
    raise FrozenInstanceError("cannot delete field '" + name + "'")


def dataclass(cls=None, /, *, init=True, repr=True, eq=True, order=False, unsafe_hash=False, frozen=False, match_args=True, kw_only=False, slots=False):
    def decorate(cls):
        made = _process(cls, init, repr, eq, order, unsafe_hash, frozen, match_args, kw_only)
        if slots:
            if '__slots__' in made.__dict__:
                raise TypeError(made.__name__ + ' already specifies __slots__')
            made.__slots__ = tuple(made.__dict__['__annotations__'])
        return made
    return decorate if cls is None else decorate(cls)


def _process(cls, init, show, eq, order, unsafe_hash, frozen, match_args, kw_only):
    fields = {}
    init_only = []
    for base in reversed(cls.__mro__[1:]):
        for name, one in base.__dict__.get('__dataclass_fields__', {}).items():
            fields[name] = one
    own = cls.__dict__
    annotations = own.get('__annotations__', {})
    only_keywords = kw_only
    for name, kind in annotations.items():
        if isinstance(kind, str):
            text = kind.removeprefix('typing.').removeprefix('dataclasses.')
            outside = text.startswith('ClassVar')
            given = text.startswith('InitVar')
        else:
            text = 'KW_ONLY' if kind is KW_ONLY else ''
            given = kind is InitVar or isinstance(kind, InitVar)
            outside = not given and not isinstance(kind, type) and getattr(kind, '_name', None) == 'ClassVar'
        if outside:
            continue
        if text == 'KW_ONLY':
            only_keywords = True
            continue
        value = own.get(name, MISSING)
        if isinstance(value, Field):
            one = value
            if one.default is MISSING:
                delattr(cls, name)
            else:
                setattr(cls, name, one.default)
        else:
            if isinstance(value, (list, dict, set)):
                raise ValueError("mutable default " + str(type(value)) + " for field " + name + " is not allowed: use default_factory")
            one = Field(value, MISSING, True, True, True, None, False)
        one.name = name
        one.type = kind
        if only_keywords:
            one.kw_only = True
        if given:
            init_only.append(name)
        fields[name] = one
    cls.__dataclass_init_only__ = init_only
    every = list(fields.values())
    cls.__dataclass_parameters__ = (MISSING, [one for one in every if one.init])
    seen_default = None
    for one in every:
        if one.init and not one.kw_only:
            if one.default is not MISSING or one.default_factory is not MISSING:
                seen_default = one.name
            elif seen_default is not None:
                raise TypeError("non-default argument '" + one.name + "' follows default argument")
    cls.__dataclass_fields__ = {name: one for name, one in fields.items() if name not in init_only}
    if init and '__init__' not in own:
        cls.__init__ = _make_init(cls, every, frozen)
    if show and '__repr__' not in own:
        cls.__repr__ = _repr
    has_hash = '__hash__' in own and own['__hash__'] is not None
    if eq and '__eq__' not in own:
        cls.__eq__ = _eq
        if not has_hash:
            cls.__hash__ = _hash if frozen or unsafe_hash else None
    elif unsafe_hash:
        cls.__hash__ = _hash
    if order:
        cls.__lt__ = _order('__lt__', lambda a, b: a < b)
        cls.__le__ = _order('__le__', lambda a, b: a <= b)
        cls.__gt__ = _order('__gt__', lambda a, b: a > b)
        cls.__ge__ = _order('__ge__', lambda a, b: a >= b)
    if frozen:
        cls.__setattr__ = _frozen_set
        cls.__delattr__ = _frozen_delete
    if match_args and '__match_args__' not in own:
        cls.__match_args__ = tuple([one.name for one in every if one.init and not one.kw_only])
    return cls


def fields(class_or_instance):
    found = getattr(class_or_instance, '__dataclass_fields__', None)
    if found is None:
        raise TypeError('must be called with a dataclass type or instance')
    return tuple(found.values())


def is_dataclass(target):
    return hasattr(target, '__dataclass_fields__')


def _is_instance(target):
    return hasattr(type(target), '__dataclass_fields__')


def asdict(obj, *, dict_factory=dict):
    if not _is_instance(obj):
        raise TypeError('asdict() should be called on dataclass instances')
    return _inner(obj, dict_factory)


def astuple(obj, *, tuple_factory=tuple):
    if not _is_instance(obj):
        raise TypeError('astuple() should be called on dataclass instances')
    return _rows(obj, tuple_factory)


def _inner(value, factory):
    # Dataclasses inside of containers, too; what is no container is copied.
    if _is_instance(value):
        return factory([(name, _inner(getattr(value, name), factory)) for name in value.__dataclass_fields__])
    return _containers(value, lambda item: _inner(item, factory))


def _rows(value, factory):
    if _is_instance(value):
        return factory([_rows(getattr(value, name), factory) for name in value.__dataclass_fields__])
    return _containers(value, lambda item: _rows(item, factory))


def _containers(value, inner):
    if isinstance(value, tuple) and hasattr(value, '_fields'):
        return type(value)(*[inner(item) for item in value])
    if isinstance(value, list):
        return type(value)([inner(item) for item in value])
    if isinstance(value, tuple):
        return type(value)([inner(item) for item in value])
    if isinstance(value, dict):
        pairs = [(inner(key), inner(item)) for key, item in value.items()]
        return type(value)(value.default_factory, pairs) if hasattr(value, 'default_factory') else type(value)(pairs)
    return _deepcopy(value)


def make_dataclass(cls_name, fields, *, bases=(), namespace=None, **options):
    body = dict(namespace or {})
    annotations = {}
    for one in fields:
        if isinstance(one, str):
            annotations[one] = 'typing.Any'
            continue
        annotations[one[0]] = one[1]
        if len(one) == 3:
            body[one[0]] = one[2]
    body['__annotations__'] = annotations
    return dataclass(type(cls_name, tuple(bases), body), **options)


def replace(target, /, **changes):
    values = {name: getattr(target, name) for name, one in target.__dataclass_fields__.items() if one.init}
    for name in changes:
        one = target.__dataclass_fields__.get(name)
        if one is not None and not one.init:
            raise ValueError('field ' + name + ' is declared with init=False, it cannot be specified with replace()')
        values[name] = changes[name]
    return type(target)(**values)


class KW_ONLY:
    pass


class InitVar:
    def __init__(self, type):
        self.type = type

    def __class_getitem__(cls, kind):
        return cls(kind)

    def __repr__(self):
        return 'dataclasses.InitVar[' + _kind_text(self.type) + ']'
