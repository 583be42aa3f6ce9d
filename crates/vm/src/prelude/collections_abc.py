class _Subscripted:
    # What is in the brackets is for readers.
    def __class_getitem__(cls, key):
        return cls


class Iterable(_Subscripted):
    _protocol = ('__iter__',)


class Iterator(_Subscripted):
    _protocol = ('__iter__', '__next__')


class Generator(_Subscripted):
    _protocol = ('__iter__', '__next__', 'send', 'throw')


class Sized(_Subscripted):
    _protocol = ('__len__',)


class Container(_Subscripted):
    _protocol = ('__contains__',)


class Collection(_Subscripted):
    _protocol = ('__len__', '__iter__', '__contains__')


class Callable(_Subscripted):
    _protocol = ('__call__',)


class Hashable(_Subscripted):
    _protocol = ('__hash__',)


class Reversible(_Subscripted):
    _protocol = ('__reversed__',)


class Sequence(_Subscripted):
    _protocol = ('__len__', '__getitem__', 'index', 'count')

    def __contains__(self, item):
        for found in self:
            if found is item or found == item:
                return True
        return False

    def __iter__(self):
        index = 0
        while index < len(self):
            yield self[index]
            index += 1

    def __reversed__(self):
        index = len(self) - 1
        while index >= 0:
            yield self[index]
            index -= 1

    def index(self, item):
        at = 0
        for found in self:
            if found == item:
                return at
            at += 1
        raise ValueError

    def count(self, item):
        return sum([1 for found in self if found == item])


class MutableSequence(Sequence):
    _protocol = ('__setitem__', 'append', 'insert')

    def append(self, item):
        self.insert(len(self), item)

    def extend(self, items):
        for item in items:
            self.append(item)

    def pop(self, index=-1):
        item = self[index]
        del self[index]
        return item


class Mapping(_Subscripted):
    _protocol = ('keys', '__getitem__', 'items', 'get')

    def get(self, key, default=None):
        try:
            return self[key]
        except KeyError:
            return default

    def __contains__(self, key):
        try:
            self[key]
        except KeyError:
            return False
        return True

    def keys(self):
        return list(iter(self))

    def items(self):
        return [(key, self[key]) for key in self]

    def values(self):
        return [self[key] for key in self]

    def __eq__(self, other):
        return dict(self.items()) == dict(other.items())


class MutableMapping(Mapping):
    _protocol = ('keys', '__setitem__', 'items', 'pop')

    def pop(self, key, *default):
        try:
            value = self[key]
        except KeyError:
            if default:
                return default[0]
            raise
        del self[key]
        return value

    def update(self, other=(), **more):
        for key in other.keys():
            self[key] = other[key]
        for key in more:
            self[key] = more[key]

    def setdefault(self, key, default=None):
        if key not in self:
            self[key] = default
        return self[key]

    def clear(self):
        for key in list(self):
            del self[key]


class Set(_Subscripted):
    _protocol = ('isdisjoint', '__contains__', '__len__')


class MutableSet(Set):
    _protocol = ('add', 'discard', '__contains__')


class Awaitable(_Subscripted):
    _protocol = ('__await__',)


class Coroutine(_Subscripted):
    _protocol = ('send', 'throw', 'close')
