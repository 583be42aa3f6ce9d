_MISSING = object()


class auto:
    # Has its value when the class is made; until then operators put together what to do.
    def __init__(self):
        self.value = None

    def __or__(self, other):
        return _Combined(self, other, lambda a, b: a | b)

    def __and__(self, other):
        return _Combined(self, other, lambda a, b: a & b)

    def __xor__(self, other):
        return _Combined(self, other, lambda a, b: a ^ b)

    __ror__ = __or__
    __rand__ = __and__
    __rxor__ = __xor__

    def _resolve(self):
        return self.value


class _Combined(auto):
    def __init__(self, left, right, function):
        self.left = left
        self.right = right
        self.function = function

    def _resolve(self):
        parts = [part._resolve() if isinstance(part, auto) else part for part in (self.left, self.right)]
        return self.function(*parts)


class EnumType(type):
    def __new__(meta, name, bases, namespace, **keywords):
        for base in bases:
            if getattr(base, '_member_map_', None):
                raise TypeError("<enum '" + name + "'> cannot extend " + repr(base))
        members = {}
        plain = {}
        last = 0
        values = []
        generate = namespace.get('_generate_next_value_')
        flag = any([getattr(base, '_is_flag', False) for base in bases])
        for key, value in namespace.items():
            special = key.startswith('_') or callable(value) or isinstance(value, (property, classmethod, staticmethod)) or hasattr(type(value), '__get__')
            if special and not isinstance(value, auto):
                plain[key] = value
            else:
                made = value if isinstance(value, auto) else None
                if isinstance(value, _Combined):
                    value = value._resolve()
                elif isinstance(value, auto):
                    if generate is not None:
                        value = generate(key, 1, len(values), values)
                    elif any([issubclass(base, str) for base in bases]):
                        value = key.lower()
                    elif flag:
                        value = 1
                        while value <= last:
                            value *= 2
                    else:
                        value = last + 1
                if made is not None:
                    made.value = value
                values.append(value)
                if isinstance(value, int):
                    last = value
                members[key] = value
        cls = type.__new__(meta, name, bases, plain)
        type.__setattr__(cls, '_member_map_', {})
        type.__setattr__(cls, '_value2member_map_', [])
        for key, value in members.items():
            known = None
            for other, member in cls._value2member_map_:
                if other == value:
                    known = member
            if known is None:
                known = cls._make_member(key, value)
                cls._value2member_map_.append((known._value_, known))
            cls._member_map_[key] = known
            type.__setattr__(cls, key, known)
        return cls

    def __init__(cls, name, bases, namespace, **keywords):
        pass

    def __call__(cls, value=_MISSING, *args, **kwargs):
        if value is _MISSING:
            raise TypeError("EnumType.__call__() missing 1 required positional argument: 'value'")
        if args or isinstance(value, str) and kwargs:
            return cls._functional(value, *args, **kwargs)
        for known, member in cls._value2member_map_:
            if known == value or member is value:
                return member
        made = cls._missing_(value)
        if made is not None:
            return made
        raise ValueError(repr(value) + ' is not a valid ' + cls.__qualname__)

    def _functional(cls, name, names, *, start=1, **ignored):
        if isinstance(names, str):
            names = names.replace(',', ' ').split()
        namespace = {}
        flag = getattr(cls, '_is_flag', False)
        index = start
        for key in names.items() if isinstance(names, dict) else names:
            if isinstance(key, (tuple, list)):
                key, value = key
            else:
                value = index
            namespace[key] = value
            index = index * 2 if flag else index + 1
        return EnumType.__new__(EnumType, name, (cls,), namespace)

    def __iter__(cls):
        return iter(cls._own_members())

    def _own_members(cls):
        members = [member for _, member in cls._value2member_map_]
        if getattr(cls, '_is_flag', False):
            # Combinations have names, too, but are no members of their own.
            members = [member for member in members if member._value_ and not member._value_ & (member._value_ - 1)]
        return members

    def __reversed__(cls):
        return reversed([member for _, member in cls._value2member_map_])

    def __len__(cls):
        return len(cls._own_members())

    def __bool__(cls):
        return True

    def __getattr__(cls, name):
        raise AttributeError(name) from None

    def __delattr__(cls, name):
        if name in cls.__dict__.get('_member_map_', {}):
            raise AttributeError(repr(cls.__name__) + ' cannot delete member ' + repr(name) + '.')
        type.__delattr__(cls, name)

    def __contains__(cls, value):
        for known, member in cls._value2member_map_:
            if member is value or known == value:
                return True
        return False

    def __getitem__(cls, name):
        return cls._member_map_[name]

    def __setattr__(cls, name, value):
        if name in cls.__dict__.get('_member_map_', {}):
            raise AttributeError("cannot reassign member '" + name + "'")
        type.__setattr__(cls, name, value)

    @property
    def __members__(cls):
        return dict(cls._member_map_)

    def __repr__(cls):
        return "<enum '" + cls.__name__ + "'>"


class Enum(metaclass=EnumType):
    _is_flag = False

    @classmethod
    def _make_member(cls, name, value):
        layout = _layout(cls)
        if layout is object:
            member = object.__new__(cls)
        else:
            member = _wrap(cls, layout(value))
        object.__setattr__(member, '_name_', name)
        object.__setattr__(member, '_value_', value)
        if cls.__init__ is not object.__init__:
            if isinstance(value, tuple):
                member.__init__(*value)
            else:
                member.__init__(value)
        return member

    @classmethod
    def _missing_(cls, value):
        return None

    @property
    def name(self):
        return self._name_

    @property
    def value(self):
        return self._value_

    def __repr__(self):
        return '<' + type(self).__name__ + '.' + self._name_ + ': ' + repr(self._value_) + '>'

    def __str__(self):
        return type(self).__name__ + '.' + self._name_

    def __hash__(self):
        return hash(self._name_)

    def __eq__(self, other):
        if self is other:
            return True
        if _layout(type(self)) is object:
            return NotImplemented
        return self._value_ == (other._value_ if isinstance(other, Enum) else other)

    def __format__(self, spec):
        return format(str(self), spec)

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


class IntEnum(int, Enum):
    def __str__(self):
        return str(self._value_)

    def __hash__(self):
        return hash(self._value_)

    def __format__(self, spec):
        return format(self._value_, spec)


class StrEnum(str, Enum):
    def __str__(self):
        return self._value_

    def __hash__(self):
        return hash(self._value_)

    def __format__(self, spec):
        return format(self._value_, spec)


class Flag(Enum):
    _is_flag = True

    @classmethod
    def _missing_(cls, value):
        every = 0
        names = []
        for bits, known in cls._value2member_map_:
            if bits and not bits & (bits - 1) and known._name_ is not None:
                every |= bits
                if value & bits:
                    names.append(known._name_)
        if not isinstance(value, int):
            raise ValueError(repr(value) + ' is not a valid ' + cls.__qualname__)
        if value < 0:
            return cls(every & value)
        rest = value & ~every
        if rest and not issubclass(cls, int):
            width = max(value.bit_length(), every.bit_length())
            raise ValueError(repr(cls).replace('enum', 'flag') + ' invalid value ' + repr(value)
                             + '\n    given 0b0 ' + format(value, '0' + str(width) + 'b')
                             + '\n  allowed 0b0 ' + format(every, '0' + str(width) + 'b'))
        if rest and names:
            names.append(str(rest))
        member = object.__new__(cls) if _layout(cls) is object else _wrap(cls, value)
        object.__setattr__(member, '_name_', '|'.join(names) if names else None)
        object.__setattr__(member, '_value_', value)
        cls._value2member_map_.append((value, member))
        return member

    def _bits(self, other):
        if isinstance(other, type(self)):
            return other._value_
        return other if isinstance(self, int) and isinstance(other, int) else None

    def __or__(self, other):
        bits = self._bits(other)
        return NotImplemented if bits is None else type(self)(self._value_ | bits)

    def __and__(self, other):
        bits = self._bits(other)
        return NotImplemented if bits is None else type(self)(self._value_ & bits)

    def __xor__(self, other):
        bits = self._bits(other)
        return NotImplemented if bits is None else type(self)(self._value_ ^ bits)

    def __iter__(self):
        for member in type(self):
            if member._value_ & self._value_:
                yield member

    def __len__(self):
        return self._value_.bit_count()

    def __invert__(self):
        every = 0
        for bits, _ in type(self)._value2member_map_:
            every |= bits
        return type(self)(every & ~self._value_)

    def __contains__(self, other):
        return other._value_ & self._value_ == other._value_

    def __bool__(self):
        return self._value_ != 0

    def __repr__(self):
        return '<' + type(self).__name__ + ('' if self._name_ is None else '.' + self._name_) + ': ' + repr(self._value_) + '>'

    def __str__(self):
        return type(self).__name__ + ('(0)' if self._name_ is None else '.' + self._name_)


class IntFlag(int, Flag):
    __or__ = Flag.__or__
    __and__ = Flag.__and__
    __xor__ = Flag.__xor__
    __invert__ = Flag.__invert__
    __ror__ = Flag.__or__
    __rand__ = Flag.__and__
    __rxor__ = Flag.__xor__

    def __str__(self):
        return str(self._value_)

    def __format__(self, spec):
        return format(self._value_, spec)

    def __hash__(self):
        return hash(self._value_)


EnumMeta = EnumType


def unique(cls):
    for name, member in cls._member_map_.items():
        if member._name_ != name:
            raise ValueError('duplicate values found in ' + repr(cls) + ': ' + name + ' -> ' + member._name_)
    return cls
