# Containers of which a program writes a few methods and gets the others.

class Sequence(Reversible, Collection):
    @abstractmethod
    def __getitem__(self, index):
        raise IndexError

    def __contains__(self, item):
        for found in self:
            if found is item or found == item:
                return True
        return False

    def __iter__(self):
        index = 0
        try:
            while True:
                yield self[index]
                index += 1
        except IndexError:
            return

    def __reversed__(self):
        index = len(self) - 1
        while index >= 0:
            yield self[index]
            index -= 1

    def index(self, value, start=0, stop=None):
        if start < 0:
            start = max(len(self) + start, 0)
        if stop is not None and stop < 0:
            stop += len(self)
        while stop is None or start < stop:
            try:
                found = self[start]
            except IndexError:
                break
            if found is value or found == value:
                return start
            start += 1
        raise ValueError

    def count(self, item):
        return sum([1 for found in self if found is item or found == item])


class MutableSequence(Sequence):
    @abstractmethod
    def __setitem__(self, index, value):
        raise IndexError

    @abstractmethod
    def __delitem__(self, index):
        raise IndexError

    @abstractmethod
    def insert(self, index, value):
        raise IndexError

    def append(self, item):
        self.insert(len(self), item)

    def extend(self, items):
        if items is self:
            items = list(items)
        for item in items:
            self.append(item)

    def pop(self, index=-1):
        item = self[index]
        del self[index]
        return item

    def remove(self, item):
        del self[self.index(item)]

    def reverse(self):
        length = len(self)
        for index in range(length // 2):
            self[index], self[length - index - 1] = self[length - index - 1], self[index]

    def clear(self):
        while len(self):
            self.pop()

    def __iadd__(self, items):
        self.extend(items)
        return self


class Mapping(Collection):
    __reversed__ = None

    @abstractmethod
    def __getitem__(self, key):
        raise KeyError

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
        return KeysView(self)

    def items(self):
        return ItemsView(self)

    def values(self):
        return ValuesView(self)

    def __eq__(self, other):
        if not isinstance(other, Mapping):
            return NotImplemented
        return dict(self.items()) == dict(other.items())


class MutableMapping(Mapping):
    @abstractmethod
    def __setitem__(self, key, value):
        raise KeyError

    @abstractmethod
    def __delitem__(self, key):
        raise KeyError

    def pop(self, key, *default):
        try:
            value = self[key]
        except KeyError:
            if default:
                return default[0]
            raise
        del self[key]
        return value

    def popitem(self):
        for key in self:
            value = self[key]
            del self[key]
            return key, value
        raise KeyError

    def update(self, other=(), /, **more):
        if hasattr(other, 'keys'):
            for key in other.keys():
                self[key] = other[key]
        else:
            for key, value in other:
                self[key] = value
        for key in more:
            self[key] = more[key]

    def setdefault(self, key, default=None):
        if key not in self:
            self[key] = default
        return self[key]

    def clear(self):
        for key in list(self):
            del self[key]


class Set(Collection):
    @classmethod
    def _from_iterable(cls, items):
        return cls(items)

    def isdisjoint(self, other):
        for item in other:
            if item in self:
                return False
        return True

    def __le__(self, other):
        if not isinstance(other, Set):
            return NotImplemented
        if len(self) > len(other):
            return False
        for item in self:
            if item not in other:
                return False
        return True

    def __lt__(self, other):
        return len(self) < len(other) and self <= other if isinstance(other, Set) else NotImplemented

    def __ge__(self, other):
        if not isinstance(other, Set):
            return NotImplemented
        if len(self) < len(other):
            return False
        for item in other:
            if item not in self:
                return False
        return True

    def __gt__(self, other):
        return len(self) > len(other) and self >= other if isinstance(other, Set) else NotImplemented

    def __eq__(self, other):
        return len(self) == len(other) and self <= other if isinstance(other, Set) else NotImplemented

    def __and__(self, other):
        return self._from_iterable([item for item in other if item in self])

    __rand__ = __and__

    def __or__(self, other):
        return self._from_iterable(list(self) + list(other))

    __ror__ = __or__

    def __sub__(self, other):
        return self._from_iterable([item for item in self if item not in other])

    def __rsub__(self, other):
        return self._from_iterable([item for item in other if item not in self])

    def __xor__(self, other):
        if not isinstance(other, Set):
            other = self._from_iterable(other)
        return (self - other) | (other - self)

    __rxor__ = __xor__


class MutableSet(Set):
    @abstractmethod
    def add(self, item):
        raise NotImplementedError

    @abstractmethod
    def discard(self, item):
        raise NotImplementedError

    def remove(self, item):
        if item not in self:
            raise KeyError(item)
        self.discard(item)

    def pop(self):
        for item in self:
            self.discard(item)
            return item
        raise KeyError

    def clear(self):
        for item in list(self):
            self.discard(item)

    def __ior__(self, other):
        for item in other:
            self.add(item)
        return self

    def __iand__(self, other):
        for item in list(self):
            if item not in other:
                self.discard(item)
        return self

    def __isub__(self, other):
        for item in list(other):
            self.discard(item)
        return self

    def __ixor__(self, other):
        if other is self:
            self.clear()
            return self
        for item in (other if isinstance(other, Set) else self._from_iterable(other)):
            if item in self:
                self.discard(item)
            else:
                self.add(item)
        return self
