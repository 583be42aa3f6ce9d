from _hashes import keccak256 as _keccak256
from cowboy_sdk.errors import AddressError

# Ours gives the same bits everywhere.
SoftFloat = float


class ordered_set:
    # A set that compares its order, too. (Our own `set` keeps it, and does not compare it.)
    __slots__ = ('_data',)

    def __init__(self, iterable=()):
        self._data = dict.fromkeys(iterable)

    def add(self, item):
        self._data[item] = None

    def discard(self, item):
        self._data.pop(item, None)

    def remove(self, item):
        del self._data[item]

    def pop(self):
        for first in self._data:
            del self._data[first]
            return first
        raise KeyError('pop from an empty set')

    def clear(self):
        self._data.clear()

    def copy(self):
        return ordered_set(self._data)

    def to_list(self):
        return list(self._data)

    def __contains__(self, item):
        return item in self._data

    def __iter__(self):
        return iter(self._data)

    def __len__(self):
        return len(self._data)

    def __repr__(self):
        return 'ordered_set({' + ', '.join([repr(item) for item in self._data]) + '})'

    def __eq__(self, other):
        if isinstance(other, ordered_set):
            return list(self._data) == list(other._data)
        if isinstance(other, (set, frozenset)):
            return set(self._data) == other
        return NotImplemented

    def __hash__(self):
        raise TypeError("unhashable type: 'ordered_set'")

    def union(self, *others):
        made = ordered_set(self._data)
        for other in others:
            made._data.update(dict.fromkeys(other))
        return made

    def intersection(self, *others):
        return ordered_set([item for item in self._data if all([item in other for other in others])])

    def difference(self, *others):
        without = set()
        for other in others:
            without.update(other)
        return ordered_set([item for item in self._data if item not in without])

    def issubset(self, other):
        return all([item in other for item in self._data])

    def issuperset(self, other):
        return all([item in self._data for item in other])

    def isdisjoint(self, other):
        return not any([item in other for item in self._data])

    __or__ = union
    __and__ = intersection
    __sub__ = difference


class BlockHeight(int):
    def __repr__(self):
        return 'block#' + int.__repr__(self)

    __str__ = __repr__

    def __add__(self, other):
        return BlockHeight(int.__add__(self, other))

    def __sub__(self, other):
        difference = int.__sub__(self, other)
        if difference < 0:
            raise ValueError('no block lies before the first one')
        return BlockHeight(difference)


class Address:
    # Twenty bytes, shown as EIP-55 has it.
    __slots__ = ('_raw',)

    def __init__(self, raw):
        if not isinstance(raw, (bytes, bytearray)):
            raise AddressError('an address is made of bytes, not ' + type(raw).__name__)
        Address.validate(raw)
        self._raw = bytes(raw)

    @classmethod
    def from_hex(cls, s):
        digits = s.lower().removeprefix('0x')
        if len(digits) != 40:
            raise AddressError('an address has 40 hexadecimal digits, not ' + str(len(digits)))
        try:
            return cls(bytes.fromhex(digits))
        except ValueError as error:
            raise AddressError('not hexadecimal: ' + s) from error

    @classmethod
    def from_bytes(cls, b):
        return cls(b)

    @classmethod
    def _from_low_u64(cls, n):
        return cls(n.to_bytes(20, 'big'))

    @classmethod
    def validate(cls, raw):
        if len(raw) != 20:
            raise AddressError('an address has 20 bytes, not ' + str(len(raw)))

    def to_bytes(self):
        return self._raw

    as_ref = __bytes__ = to_bytes

    def to_hex(self, checksum=True):
        digits = self._raw.hex()
        if checksum:
            marks = _keccak256(digits.encode()).hex()
            digits = ''.join([digit.upper() if mark > '7' else digit for digit, mark in zip(digits, marks)])
        return '0x' + digits

    __str__ = to_hex

    def __repr__(self):
        return 'Address(' + self.to_hex() + ')'

    def __eq__(self, other):
        if isinstance(other, Address):
            return self._raw == other._raw
        if isinstance(other, bytes) and len(other) == 20:
            return self._raw == other
        return NotImplemented

    def __hash__(self):
        return hash(self._raw)

    def __len__(self):
        return 20

    def is_zero(self):
        return self._raw == bytes(20)

    def is_system(self):
        return self._raw[:12] == bytes(12)


# Where the system's actors are.
Address.ZERO = Address(bytes(20))
Address.RUNNER_REGISTRY = Address._from_low_u64(1)
Address.JOB_DISPATCHER = Address._from_low_u64(2)
Address.RESULT_VERIFIER = Address._from_low_u64(3)
Address.SECRETS_MANAGER = Address._from_low_u64(4)
Address.TEE_VERIFIER = Address._from_low_u64(5)
Address.TOKEN_REGISTRY = Address._from_low_u64(6)


def _addr(b):
    # Twenty bytes of anything that names an address.
    if isinstance(b, Address):
        return b._raw
    if isinstance(b, str):
        return Address.from_hex(b)._raw
    if not isinstance(b, (bytes, bytearray)):
        raise AddressError('a value of type ' + type(b).__name__ + ' is no address')
    Address.validate(b)
    return bytes(b)


def _addr_from_hex(s):
    return Address.from_hex(s)._raw
