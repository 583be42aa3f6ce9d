class UserDict:
    def __class_getitem__(cls, key):
        return _GenericAlias(cls, key)

    def __init__(self, source=None, /, **kwargs):
        self.data = {}
        if source is not None:
            self.update(source)
        if kwargs:
            self.update(kwargs)

    def update(self, source=(), /, **kwargs):
        if hasattr(source, 'keys'):
            for key in source.keys():
                self[key] = source[key]
        else:
            for key, value in source:
                self[key] = value
        for key in kwargs:
            self[key] = kwargs[key]

    def __getitem__(self, key):
        if key in self.data:
            return self.data[key]
        missing = getattr(type(self), '__missing__', None)
        if missing is not None:
            return missing(self, key)
        raise KeyError(key)

    def __setitem__(self, key, value):
        self.data[key] = value

    def __delitem__(self, key):
        del self.data[key]

    def __iter__(self):
        return iter(self.data)

    def __len__(self):
        return len(self.data)

    def __contains__(self, key):
        return key in self.data

    def __repr__(self):
        return repr(self.data)

    def __eq__(self, other):
        return dict(self.items()) == (dict(other.items()) if isinstance(other, UserDict) else other)

    def __or__(self, other):
        made = self.copy()
        made.update(other)
        return made

    def __ior__(self, other):
        self.update(other)
        return self

    def get(self, key, default=None):
        try:
            return self[key]
        except KeyError:
            return default

    def keys(self):
        return self.data.keys()

    def values(self):
        return [self[key] for key in self]

    def items(self):
        return [(key, self[key]) for key in self]

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
            return key, self.pop(key)
        raise KeyError('popitem(): dictionary is empty')

    def setdefault(self, key, default=None):
        try:
            return self[key]
        except KeyError:
            self[key] = default
        return default

    def clear(self):
        for key in list(self):
            del self[key]

    def copy(self):
        made = type(self)()
        made.data = self.data.copy()
        return made


def _data(value):
    return value.data if isinstance(value, (UserList, UserString)) else value


class UserList:
    def __class_getitem__(cls, key):
        return _GenericAlias(cls, key)

    def __init__(self, source=None):
        self.data = [] if source is None else list(_data(source))

    def __repr__(self):
        return repr(self.data)

    def __eq__(self, other):
        return self.data == _data(other)

    def __lt__(self, other):
        return self.data < _data(other)

    def __le__(self, other):
        return self.data <= _data(other)

    def __gt__(self, other):
        return self.data > _data(other)

    def __ge__(self, other):
        return self.data >= _data(other)

    def __contains__(self, item):
        return item in self.data

    def __len__(self):
        return len(self.data)

    def __iter__(self):
        place = 0
        while place < len(self):
            yield self[place]
            place += 1

    def __reversed__(self):
        for place in range(len(self) - 1, -1, -1):
            yield self[place]

    def __getitem__(self, place):
        if isinstance(place, slice):
            return type(self)(self.data[place])
        return self.data[place]

    def __setitem__(self, place, item):
        self.data[place] = item

    def __delitem__(self, place):
        del self.data[place]

    def __add__(self, other):
        return type(self)(self.data + list(_data(other)))

    def __radd__(self, other):
        return type(self)(list(_data(other)) + self.data)

    def __iadd__(self, other):
        self.data += list(_data(other))
        return self

    def __mul__(self, count):
        return type(self)(self.data * count)

    __rmul__ = __mul__

    def __imul__(self, count):
        self.data *= count
        return self

    def append(self, item):
        self.data.append(item)

    def insert(self, place, item):
        self.data.insert(place, item)

    def pop(self, place=-1):
        return self.data.pop(place)

    def remove(self, item):
        self.data.remove(item)

    def clear(self):
        self.data.clear()

    def copy(self):
        return type(self)(self)

    def count(self, item):
        return self.data.count(item)

    def index(self, item, *bounds):
        return self.data.index(item, *bounds)

    def reverse(self):
        self.data.reverse()

    def sort(self, /, **options):
        self.data.sort(**options)

    def extend(self, other):
        self.data.extend(list(_data(other)))


class UserString:
    def __init__(self, source):
        self.data = str(source)

    def __str__(self):
        return self.data

    def __repr__(self):
        return repr(self.data)

    def __hash__(self):
        return hash(self.data)

    def __eq__(self, other):
        return self.data == _data(other)

    def __lt__(self, other):
        return self.data < _data(other)

    def __le__(self, other):
        return self.data <= _data(other)

    def __gt__(self, other):
        return self.data > _data(other)

    def __ge__(self, other):
        return self.data >= _data(other)

    def __contains__(self, text):
        return _data(text) in self.data

    def __len__(self):
        return len(self.data)

    def __iter__(self):
        return iter(self.data)

    def __getitem__(self, place):
        return type(self)(self.data[place])

    def __add__(self, other):
        return type(self)(self.data + str(other))

    def __radd__(self, other):
        return type(self)(str(other) + self.data)

    def __mul__(self, count):
        return type(self)(self.data * count)

    __rmul__ = __mul__

    def __mod__(self, values):
        return type(self)(self.data % values)

    def __getattr__(self, name):
        # Methods of text; what they make of it is of this kind again.
        if name == 'data' or name.startswith('__'):
            raise AttributeError(repr(type(self).__name__) + ' object has no attribute ' + repr(name))
        method = getattr(self.data, name)

        def call(*args, **kwargs):
            made = method(*[_data(arg) for arg in args], **kwargs)
            return type(self)(made) if isinstance(made, str) and name not in ('join', 'format') else made
        return call
