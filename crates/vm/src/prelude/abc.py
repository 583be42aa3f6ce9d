def abstractmethod(function):
    function.__isabstractmethod__ = True
    return function


def _is_abstract(value):
    if isinstance(value, property):
        return _is_abstract(value.fget)
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


class ABCMeta(type):
    def __new__(meta, name, bases, namespace, **keywords):
        cls = super().__new__(meta, name, bases, namespace, **keywords)
        _mark(cls)
        return cls

    def register(cls, other):
        return other


class ABC(metaclass=ABCMeta):
    pass


def abstractproperty(function):
    return property(abstractmethod(function))
