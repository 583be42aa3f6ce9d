class deque:
    def __class_getitem__(cls, key):
        return _GenericAlias(cls, key)

    # A list with a head: what was taken from the left is cut off now and then.
    def __init__(self, iterable=(), maxlen=None):
        if maxlen is not None and maxlen < 0:
            raise ValueError('maxlen must be non-negative')
        self._items = []
        self._head = 0
        self.maxlen = maxlen
        for item in iterable:
            self.append(item)

    def append(self, item):
        self._items.append(item)
        if self.maxlen is not None and len(self) > self.maxlen:
            self.popleft()

    def appendleft(self, item):
        if self._head > 0:
            self._head -= 1
            self._items[self._head] = item
        else:
            room = len(self._items) + 8
            self._items = [None] * room + self._items
            self._head = room - 1
            self._items[self._head] = item
        if self.maxlen is not None and len(self) > self.maxlen:
            self.pop()

    def pop(self):
        if self._head >= len(self._items):
            raise IndexError('pop from an empty deque')
        return self._items.pop()

    def popleft(self):
        head = self._head
        items = self._items
        if head >= len(items):
            raise IndexError('pop from an empty deque')
        item = items[head]
        items[head] = None
        head += 1
        if head > 32 and head * 2 > len(items):
            del items[:head]
            head = 0
        self._head = head
        return item

    def extend(self, iterable):
        for item in iterable:
            self.append(item)

    def extendleft(self, iterable):
        for item in iterable:
            self.appendleft(item)

    def _list(self):
        return self._items[self._head:]

    def clear(self):
        self._items = []
        self._head = 0

    def copy(self):
        return type(self)(self._list(), self.maxlen)

    def count(self, item):
        return self._list().count(item)

    def index(self, item, *bounds):
        try:
            return self._list().index(item, *bounds)
        except ValueError:
            raise ValueError(repr(item) + ' is not in deque') from None

    def insert(self, index, item):
        if self.maxlen is not None and len(self) >= self.maxlen:
            raise IndexError('deque already at its maximum size')
        items = self._list()
        items.insert(index, item)
        self._items = items
        self._head = 0

    def remove(self, item):
        items = self._list()
        if item not in items:
            raise ValueError(repr(item) + ' is not in deque')
        items.remove(item)
        self._items = items
        self._head = 0

    def reverse(self):
        items = self._list()
        items.reverse()
        self._items = items
        self._head = 0

    def rotate(self, n=1):
        items = self._list()
        if items:
            n %= len(items)
            self._items = items[-n:] + items[:-n] if n else items
            self._head = 0

    def __len__(self):
        return len(self._items) - self._head

    def __bool__(self):
        return len(self._items) > self._head

    def __iter__(self):
        return iter(self._list())

    def __reversed__(self):
        return reversed(self._list())

    def __contains__(self, item):
        return item in self._list()

    def _place(self, index):
        length = len(self)
        if not isinstance(index, int):
            raise TypeError("sequence index must be integer, not '" + type(index).__name__ + "'")
        if index < 0:
            index += length
        if index < 0 or index >= length:
            raise IndexError('deque index out of range')
        return index + self._head

    def __getitem__(self, index):
        return self._items[self._place(index)]

    def __setitem__(self, index, value):
        self._items[self._place(index)] = value

    def __delitem__(self, index):
        del self._items[self._place(index)]

    def __eq__(self, other):
        return isinstance(other, deque) and self._list() == other._list()

    def __lt__(self, other):
        return self._list() < other._list() if isinstance(other, deque) else NotImplemented

    def __le__(self, other):
        return self._list() <= other._list() if isinstance(other, deque) else NotImplemented

    def __gt__(self, other):
        return self._list() > other._list() if isinstance(other, deque) else NotImplemented

    def __ge__(self, other):
        return self._list() >= other._list() if isinstance(other, deque) else NotImplemented

    def __add__(self, other):
        if not isinstance(other, deque):
            raise TypeError('can only concatenate deque (not "' + type(other).__name__ + '") to deque')
        return type(self)(self._list() + other._list(), self.maxlen)

    def __mul__(self, count):
        return type(self)(self._list() * count, self.maxlen)

    __rmul__ = __mul__

    def __imul__(self, count):
        items = self._list()
        self.clear()
        self.extend(items * count)
        return self

    def __iadd__(self, other):
        self.extend(other)
        return self

    def __repr__(self):
        if _showing(self):
            return '[...]'
        tail = '' if self.maxlen is None else ', maxlen=' + str(self.maxlen)
        return type(self).__name__ + '(' + repr(self._list()) + tail + ')'
