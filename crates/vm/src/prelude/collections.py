class OrderedDict(dict):
    def __class_getitem__(cls, key):
        return _GenericAlias(cls, key)

    def __eq__(self, other):
        if isinstance(other, OrderedDict):
            return list(self.items()) == list(other.items())
        return dict(self) == other

    def __ne__(self, other):
        return not self == other

    def __repr__(self):
        if _showing(self):
            return '...'
        return type(self).__name__ + '(' + (repr(list(self.items())) if self else '') + ')'

    def move_to_end(self, key, last=True):
        # Methods that a subclass has in their place are not asked.
        value = dict.pop(self, key)
        if last:
            dict.__setitem__(self, key, value)
        else:
            rest = list(dict.items(self))
            dict.clear(self)
            dict.__setitem__(self, key, value)
            for other, item in rest:
                dict.__setitem__(self, other, item)

    def copy(self):
        return type(self)(self)

    def __or__(self, other):
        if not isinstance(other, dict):
            return NotImplemented
        made = type(self)(self)
        made.update(other)
        return made

    def __ror__(self, other):
        if not isinstance(other, dict):
            return NotImplemented
        made = type(self)(other)
        made.update(self)
        return made

    @classmethod
    def fromkeys(cls, iterable, value=None):
        made = cls()
        for key in iterable:
            made[key] = value
        return made


class defaultdict(dict):
    def __class_getitem__(cls, key):
        return _GenericAlias(cls, key)

    def __init__(self, default_factory=None, /, *args, **kwargs):
        if default_factory is not None and not callable(default_factory):
            raise TypeError('first argument must be callable or None')
        dict.__init__(self, *args, **kwargs)
        self.default_factory = default_factory

    def __missing__(self, key):
        if self.default_factory is None:
            raise KeyError(key)
        value = self.default_factory()
        self[key] = value
        return value

    def __repr__(self):
        return type(self).__name__ + '(' + repr(self.default_factory) + ', ' + dict.__repr__(self) + ')'

    def copy(self):
        return type(self)(self.default_factory, self)

    def __or__(self, other):
        if not isinstance(other, dict):
            return NotImplemented
        both = self.copy()
        both.update(other)
        return both

    def __ror__(self, other):
        if not isinstance(other, dict):
            return NotImplemented
        both = type(self)(self.default_factory, other)
        both.update(self)
        return both


class Counter(dict):
    def __class_getitem__(cls, key):
        return _GenericAlias(cls, key)

    def __init__(self, iterable=None, /, **kwargs):
        dict.__init__(self)
        self.update(iterable, **kwargs)

    def __missing__(self, key):
        return 0

    def update(self, iterable=None, /, **kwargs):
        if iterable is not None:
            if isinstance(iterable, dict):
                for key, count in iterable.items():
                    self[key] = self.get(key, 0) + count
            else:
                for key in iterable:
                    self[key] = self.get(key, 0) + 1
        for key in kwargs:
            self[key] = self.get(key, 0) + kwargs[key]

    def subtract(self, iterable=None, /, **kwargs):
        if iterable is not None:
            if isinstance(iterable, dict):
                for key, count in iterable.items():
                    self[key] = self.get(key, 0) - count
            else:
                for key in iterable:
                    self[key] = self.get(key, 0) - 1
        for key in kwargs:
            self[key] = self.get(key, 0) - kwargs[key]

    def most_common(self, n=None):
        pairs = sorted(self.items(), key=_second, reverse=True)
        return pairs if n is None else pairs[:n]

    def elements(self):
        for key, count in self.items():
            for _ in range(count):
                yield key

    def total(self):
        return sum(self.values())

    def copy(self):
        return type(self)(self)

    @classmethod
    def fromkeys(cls, iterable, value=None):
        raise NotImplementedError('Counter.fromkeys() is undefined.  Use Counter(iterable) instead.')

    def _within(self, other):
        # A count that is missing is zero.
        for key in self:
            if self[key] > other[key]:
                return False
        for key in other:
            if self[key] > other[key]:
                return False
        return True

    def __eq__(self, other):
        if not isinstance(other, Counter):
            return NotImplemented
        return self._within(other) and other._within(self)

    def __ne__(self, other):
        return NotImplemented if not isinstance(other, Counter) else not self == other

    def __le__(self, other):
        return self._within(other) if isinstance(other, Counter) else NotImplemented

    def __lt__(self, other):
        return self <= other and self != other if isinstance(other, Counter) else NotImplemented

    def __ge__(self, other):
        return other._within(self) if isinstance(other, Counter) else NotImplemented

    def __gt__(self, other):
        return self >= other and self != other if isinstance(other, Counter) else NotImplemented

    def __repr__(self):
        if not self:
            return type(self).__name__ + '()'
        return type(self).__name__ + '({' + ', '.join([repr(key) + ': ' + repr(count) for key, count in self.most_common()]) + '})'

    def __add__(self, other):
        result = Counter()
        for key, count in self.items():
            total = count + other[key]
            if total > 0:
                result[key] = total
        for key, count in other.items():
            if key not in self and count > 0:
                result[key] = count
        return result

    def __sub__(self, other):
        result = Counter()
        for key, count in self.items():
            total = count - other[key]
            if total > 0:
                result[key] = total
        for key, count in other.items():
            if key not in self and count < 0:
                result[key] = -count
        return result

    def __pos__(self):
        return self + Counter()

    def __neg__(self):
        return Counter() - self

    def __and__(self, other):
        result = Counter()
        for key, count in self.items():
            total = min(count, other[key])
            if total > 0:
                result[key] = total
        return result

    def __or__(self, other):
        result = Counter()
        for key, count in self.items():
            total = max(count, other[key])
            if total > 0:
                result[key] = total
        for key, count in other.items():
            if key not in self and count > 0:
                result[key] = count
        return result


def _second(pair):
    return pair[1]


def namedtuple(typename, field_names, *, rename=False, defaults=None, module=None):
    if isinstance(field_names, str):
        field_names = field_names.replace(',', ' ').split()
    fields = tuple(field_names)
    if rename:
        seen = set()
        checked = []
        for field in fields:
            if not field.isidentifier() or field in _KEYWORDS or field.startswith('_') or field in seen:
                field = '_' + str(len(checked))
            checked.append(field)
            seen.add(field)
        fields = tuple(checked)
    for name in (typename,) + fields:
        if not name.isidentifier():
            raise ValueError('Type names and field names must be valid identifiers: ' + repr(name))
        if name in _KEYWORDS:
            raise ValueError('Type names and field names cannot be a keyword: ' + repr(name))
    seen = set()
    for field in fields:
        if field.startswith('_') and not rename:
            raise ValueError('Field names cannot start with an underscore: ' + repr(field))
        if field in seen:
            raise ValueError('Encountered duplicate field name: ' + repr(field))
        seen.add(field)
    defaults = tuple(defaults) if defaults is not None else ()
    if len(defaults) > len(fields):
        raise TypeError('Got more default values than field names')
    namespace = {'_fields': fields, '__match_args__': fields, '__slots__': (),
                 '__doc__': typename + '(' + ', '.join(fields) + ')',
                 '_field_defaults': dict(zip(fields[len(fields) - len(defaults):], defaults))}
    for index in range(len(fields)):
        namespace[fields[index]] = _field(index)
    return type(typename, (_Named,), namespace)


_KEYWORDS = frozenset([
    'False', 'None', 'True', 'and', 'as', 'assert', 'async', 'await', 'break', 'class', 'continue', 'def',
    'del', 'elif', 'else', 'except', 'finally', 'for', 'from', 'global', 'if', 'import', 'in', 'is',
    'lambda', 'nonlocal', 'not', 'or', 'pass', 'raise', 'return', 'try', 'while', 'with', 'yield'])


def _field(index):
    return property(lambda self: self[index], _fixed)


def _fixed(self, value):
    raise AttributeError("can't set attribute")


class _Named(tuple):
    __slots__ = ()
    _fields = ()
    _field_defaults = {}

    def __new__(cls, *args, **kwargs):
        fields = cls._fields
        values = list(args)
        if len(values) > len(fields):
            least = len(fields) + 1 - len(cls._field_defaults)
            span = 'from ' + str(least) + ' to ' if cls._field_defaults else ''
            raise TypeError(cls.__name__ + '.__new__() takes ' + span + str(len(fields) + 1) + ' positional arguments but ' + str(len(values) + 1) + ' were given')
        missing = []
        for field in fields[len(values):]:
            if field in kwargs:
                values.append(kwargs.pop(field))
            elif field in cls._field_defaults:
                values.append(cls._field_defaults[field])
            else:
                missing.append("'" + field + "'")
        if kwargs:
            name = list(kwargs)[0]
            what = 'got multiple values for argument' if name in fields else 'got an unexpected keyword argument'
            raise TypeError(cls.__name__ + '.__new__() ' + what + " '" + name + "'")
        if missing:
            names = ' and '.join(missing) if len(missing) < 3 else ', '.join(missing[:-1]) + ', and ' + missing[-1]
            raise TypeError(cls.__name__ + '.__new__() missing ' + str(len(missing)) + ' required positional argument'
                            + ('' if len(missing) == 1 else 's') + ': ' + names)
        return _wrap(cls, tuple(values))

    def __repr__(self):
        return type(self).__name__ + '(' + ', '.join([field + '=' + repr(value) for field, value in zip(self._fields, self)]) + ')'

    def _asdict(self):
        return dict(zip(self._fields, self))

    def _replace(self, **kwargs):
        values = [kwargs.pop(field, value) for field, value in zip(self._fields, self)]
        if kwargs:
            raise ValueError('Got unexpected field names: ' + repr(list(kwargs)))
        return type(self)(*values)

    @classmethod
    def _make(cls, iterable):
        return cls(*iterable)
