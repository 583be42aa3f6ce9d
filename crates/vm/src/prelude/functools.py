def reduce(function, iterable, *initial):
    iterator = iter(iterable)
    if initial:
        value = initial[0]
    else:
        try:
            value = next(iterator)
        except StopIteration:
            raise TypeError('reduce() of empty iterable with no initial value') from None
    for item in iterator:
        value = function(value, item)
    return value


class partial:
    def __init__(self, func, /, *args, **keywords):
        self.func = func
        self.args = args
        self.keywords = keywords

    def __call__(self, /, *args, **keywords):
        return self.func(*self.args, *args, **{**self.keywords, **keywords})

    def __repr__(self):
        parts = [repr(self.func)] + [repr(arg) for arg in self.args]
        parts += [name + '=' + repr(value) for name, value in self.keywords.items()]
        return 'functools.partial(' + ', '.join(parts) + ')'


class partialmethod:
    def __init__(self, func, *args, **keywords):
        self.func = func
        self.args = args
        self.keywords = keywords

    def __get__(self, obj, cls=None):
        return partial(self.func, obj, *self.args, **self.keywords)


def update_wrapper(wrapper, wrapped, assigned=(), updated=()):
    for name in ('__name__', '__qualname__', '__doc__', '__module__', '__annotations__'):
        value = getattr(wrapped, name, None)
        if value is not None:
            try:
                setattr(wrapper, name, value)
            except AttributeError:
                pass
    more = getattr(wrapped, '__dict__', None)
    if more and not isinstance(wrapped, type):
        for name, value in more.items():
            if name not in ('__doc__', '__module__', '__wrapped__'):
                setattr(wrapper, name, value)
    wrapper.__wrapped__ = wrapped
    return wrapper


def wraps(wrapped, assigned=(), updated=()):
    def decorate(wrapper):
        return update_wrapper(wrapper, wrapped)
    return decorate


class _CacheInfo:
    def __init__(self, hits, misses, maxsize, currsize):
        self.hits = hits
        self.misses = misses
        self.maxsize = maxsize
        self.currsize = currsize

    def _asdict(self):
        return {'hits': self.hits, 'misses': self.misses, 'maxsize': self.maxsize, 'currsize': self.currsize}

    def __iter__(self):
        return iter((self.hits, self.misses, self.maxsize, self.currsize))

    def __getitem__(self, place):
        return tuple(self)[place]

    def __len__(self):
        return 4

    def __eq__(self, other):
        return tuple(self) == tuple(other)

    def __repr__(self):
        return f'CacheInfo(hits={self.hits}, misses={self.misses}, maxsize={self.maxsize}, currsize={self.currsize})'


class _Cached:
    def __init__(self, function, maxsize):
        self._function = function
        self._maxsize = maxsize
        self._table = {}
        self._hits = 0
        self._misses = 0
        update_wrapper(self, function)

    def __call__(self, *args, **kwargs):
        key = (args, tuple(sorted(kwargs.items()))) if kwargs else args
        table = self._table
        if key in table:
            self._hits += 1
            value = table[key]
            if self._maxsize is not None:
                del table[key]
                table[key] = value
            return value
        self._misses += 1
        value = self._function(*args, **kwargs)
        if self._maxsize != 0:
            if self._maxsize is not None and len(table) >= self._maxsize:
                del table[next(iter(table))]
            table[key] = value
        return value

    def __get__(self, obj, cls=None):
        if obj is None:
            return self
        return partial(self, obj)

    def cache_info(self):
        return _CacheInfo(self._hits, self._misses, self._maxsize, len(self._table))

    def cache_parameters(self):
        return {'maxsize': self._maxsize, 'typed': False}

    def cache_clear(self):
        self._table = {}
        self._hits = 0
        self._misses = 0


def lru_cache(maxsize=128, typed=False):
    if callable(maxsize):
        return _Cached(maxsize, 128)

    def decorate(function):
        return _Cached(function, maxsize)
    return decorate


def cache(function):
    return _Cached(function, None)


class cached_property:
    def __init__(self, func):
        self.func = func
        self.attrname = None

    def __set_name__(self, owner, name):
        self.attrname = name

    def __get__(self, obj, cls=None):
        if obj is None:
            return self
        value = self.func(obj)
        obj.__dict__[self.attrname] = value
        return value


def cmp_to_key(compare):
    class Key:
        def __init__(self, obj):
            self.obj = obj

        def __lt__(self, other):
            return compare(self.obj, other.obj) < 0

        def __gt__(self, other):
            return compare(self.obj, other.obj) > 0

        def __eq__(self, other):
            return compare(self.obj, other.obj) == 0

        def __le__(self, other):
            return compare(self.obj, other.obj) <= 0

        def __ge__(self, other):
            return compare(self.obj, other.obj) >= 0
    return Key


def total_ordering(cls):
    names = cls.__dict__
    if '__lt__' in names:
        less = cls.__lt__
        if '__gt__' not in names:
            cls.__gt__ = lambda self, other: not (less(self, other) or self == other)
        if '__le__' not in names:
            cls.__le__ = lambda self, other: less(self, other) or self == other
        if '__ge__' not in names:
            cls.__ge__ = lambda self, other: not less(self, other)
    elif '__gt__' in names:
        more = cls.__gt__
        cls.__lt__ = lambda self, other: not (more(self, other) or self == other)
        cls.__ge__ = lambda self, other: more(self, other) or self == other
        cls.__le__ = lambda self, other: not more(self, other)
    elif '__le__' in names:
        most = cls.__le__
        cls.__gt__ = lambda self, other: not most(self, other)
        cls.__lt__ = lambda self, other: most(self, other) and not self == other
        cls.__ge__ = lambda self, other: not most(self, other) or self == other
    elif '__ge__' in names:
        least = cls.__ge__
        cls.__lt__ = lambda self, other: not least(self, other)
        cls.__gt__ = lambda self, other: least(self, other) and not self == other
        cls.__le__ = lambda self, other: not least(self, other) or self == other
    else:
        raise ValueError('must define at least one ordering operation: < > <= >=')
    return cls


def _either(kind):
    # The types of a union.
    if isinstance(kind, _UnionType) or isinstance(kind, _GenericAlias) and getattr(kind.__origin__, '_name', None) == 'Union':
        return kind.__args__
    return ()


def singledispatch(function):
    table = {object: function}

    def dispatch(kind):
        for base in kind.__mro__:
            if base in table:
                return table[base]
        return function

    def register(kind, implementation=None):
        if implementation is None:
            if isinstance(kind, type) or _either(kind):
                return lambda implementation: register(kind, implementation)
            implementation = kind
            written = [one for name, one in getattr(kind, '__annotations__', {}).items() if name != 'return' and name != 'self']
            if not written:
                raise TypeError('Invalid first argument to `register()`: ' + repr(kind) + '. Use either `@register(some_class)` or plain `@register` on an annotated function.')
            kind = written[0]
            if isinstance(kind, str):
                import typing
                kind = list(typing.get_type_hints(implementation).values())[0]
        for one in _either(kind) or (kind,):
            if not isinstance(one, type):
                raise TypeError('Invalid annotation. ' + repr(kind) + ' is not a class.')
            table[one] = implementation
        return implementation

    def wrapper(*args, **kwargs):
        if not args:
            raise TypeError(function.__name__ + ' requires at least 1 positional argument')
        return dispatch(type(args[0]))(*args, **kwargs)
    update_wrapper(wrapper, function)
    wrapper.register = register
    wrapper.dispatch = dispatch
    wrapper.registry = table
    return wrapper


class singledispatchmethod:
    def __init__(self, function):
        self.dispatcher = singledispatch(function)
        self.function = function

    def register(self, kind, implementation=None):
        return self.dispatcher.register(kind, implementation)

    def __get__(self, instance, owner=None):
        dispatcher = self.dispatcher

        def method(*args, **kwargs):
            found = dispatcher.dispatch(type(args[0]))
            if isinstance(found, (classmethod, staticmethod)):
                return found.__get__(instance, owner)(*args, **kwargs)
            return found(instance, *args, **kwargs)
        update_wrapper(method, self.function)
        return method
