def abstractmethod(function):
    function.__isabstractmethod__ = True
    return function


def _is_abstract(value):
    if isinstance(value, property):
        return _is_abstract(value.fget) or _is_abstract(value.fset) or _is_abstract(value.fdel)
    if isinstance(value, (classmethod, staticmethod)):
        return _is_abstract(value.__func__)
    return getattr(value, '__isabstractmethod__', False)


def _mark(cls):
    names = []
    for base in reversed(cls.__mro__):
        for name, value in base.__dict__.items():
            if _is_abstract(value):
                if name not in names:
                    names.append(name)
            elif name in names:
                names.remove(name)
    names.sort()
    cls.__abstractmethods__ = frozenset(names)


def update_abstractmethods(cls):
    if hasattr(cls, '__abstractmethods__'):
        _mark(cls)
    return cls


class ABCMeta(type):
    def __new__(meta, name, bases, namespace, **keywords):
        cls = super().__new__(meta, name, bases, namespace, **keywords)
        _mark(cls)
        return cls

    def register(cls, other):
        if not isinstance(other, type):
            raise TypeError('Can only register classes')
        # Whoever is of this kind is of the kinds that it is built on.
        for base in cls.__mro__:
            if isinstance(base, ABCMeta):
                base._abc_registry = base.__dict__.get('_abc_registry', ()) + (other,)
        return other


class ABC(metaclass=ABCMeta):
    pass


def abstractproperty(function):
    return property(abstractmethod(function))


def abstractclassmethod(function):
    return classmethod(abstractmethod(function))


def abstractstaticmethod(function):
    return staticmethod(abstractmethod(function))


def get_cache_token():
    return 0
