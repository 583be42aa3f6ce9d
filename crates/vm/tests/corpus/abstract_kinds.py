# Kinds of collections.abc: what is one of them, what they ask for and what they give.
from abc import ABC, ABCMeta, abstractmethod
from collections import deque, OrderedDict, defaultdict, Counter, ChainMap, UserDict, UserList, UserString
from collections.abc import *
import collections.abc as kinds

class Reg(ABC): pass
class Foo: pass
class Bar(Foo): pass
class Deeper(Reg): pass
print(Reg.register(Foo) is Foo, isinstance(Bar(), Reg), issubclass(Bar, Reg), isinstance(Foo(), Deeper))
Deeper.register(int)
print(isinstance(1, Reg), isinstance(True, Deeper), isinstance('a', Deeper))

@Reg.register
class Decorated: pass
print(issubclass(Decorated, Reg))

class HasSize(ABC):
    @classmethod
    def __subclasshook__(cls, C):
        if cls is HasSize:
            return any('size' in B.__dict__ for B in C.__mro__) or NotImplemented
        return NotImplemented
class Sized2:
    def size(self): return 1
print(isinstance(Sized2(), HasSize), isinstance(3, HasSize), isinstance(Sized2(), (int, HasSize)), issubclass(Sized2, HasSize))
HasSize.register(str)
print(isinstance('a', HasSize))

names = ['Hashable', 'Iterable', 'Iterator', 'Reversible', 'Sized', 'Container', 'Callable', 'Collection', 'Sequence', 'MutableSequence',
         'Set', 'MutableSet', 'Mapping', 'MutableMapping', 'KeysView', 'ItemsView', 'ValuesView', 'Generator', 'Awaitable']
def gen(): yield 1
values = [1, 1.5, None, 'a', b'a', bytearray(), [], (), {}, set(), frozenset(), range(3), {}.keys(), {}.values(), {}.items(), gen(), gen, len,
          int, iter([]), deque(), OrderedDict(), defaultdict(int), Counter(), UserDict(), UserList(), UserString('a'), zip(), enumerate([]), object(), slice(1)]
for value in values:
    shown = [name for name in names if isinstance(value, getattr(kinds, name))]
    assert shown == [name for name in names if issubclass(type(value), getattr(kinds, name))]
    print(type(value).__name__ if not hasattr(value, '__next__') else 'iterator', shown)

for kind in (Iterator, Sequence, MutableSequence, Set, MutableSet, Mapping, MutableMapping, Callable, Hashable, Sized, Collection, Generator):
    class Empty(kind): pass
    try:
        Empty()
        print('made')
    except TypeError as error:
        print(error)

class Deck(Sequence):
    def __init__(self, cards): self.cards = list(cards)
    def __getitem__(self, place): return self.cards[place]
    def __len__(self): return len(self.cards)
d = Deck('abcab')
print(list(d), list(reversed(d)), 'b' in d, d.index('b'), d.index('b', 2), d.count('a'), d.index('a', -2))
try: d.index('z')
except ValueError as error: print(type(error).__name__)

class Low(MutableMapping):
    def __init__(self, *args, **kw): self.d = {}; self.update(*args, **kw)
    def __getitem__(self, k): return self.d[k.lower()]
    def __setitem__(self, k, v): self.d[k.lower()] = v
    def __delitem__(self, k): del self.d[k.lower()]
    def __iter__(self): return iter(self.d)
    def __len__(self): return len(self.d)
m = Low({'A': 1}, B=2)
print(dict(m), m['a'], 'B' in m, m.get('z', 9), m.pop('a'), m.setdefault('Q', 4), list(m.keys()), list(m.items()), list(m.values()), m == {'b': 2, 'q': 4})
print(m.keys() & {'b'}, m.keys() | {'x'} == {'b', 'q', 'x'}, type(m.items()).__name__, ('b', 2) in m.items(), 4 in m.values(), len(m.keys()))
print(m.popitem(), len(m))
m.clear(); print(dict(m), bool(m))

class Bag(MutableSet):
    def __init__(self, items=()): self.items = list(dict.fromkeys(items))
    def __contains__(self, item): return item in self.items
    def __iter__(self): return iter(self.items)
    def __len__(self): return len(self.items)
    def add(self, item):
        if item not in self.items: self.items.append(item)
    def discard(self, item):
        if item in self.items: self.items.remove(item)
b = Bag('abc')
print(list(b & Bag('bcd')), list(b | Bag('xa')), list(b - Bag('a')), sorted(b ^ Bag('cd')), b <= Bag('abcd'), b == {'a', 'b', 'c'}, b.isdisjoint('xyz'))
b |= Bag('z'); b -= Bag('a'); b &= Bag('bz'); b ^= Bag('zq')
print(list(b), b.pop())

class Meta(ABCMeta):
    def __call__(cls, *a, **k): return super().__call__(*a, **k)
class Base(metaclass=Meta):
    @abstractmethod
    def go(self): ...
    @property
    @abstractmethod
    def value(self): ...
try: Base()
except TypeError as e: print(e)

for x in (deque([1, 2]), UserList([1, 2]), Deck([1, 2]), 'ab', b'ab', UserString('ab'), {1, 2}):
    match x:
        case [1, b]: print('seq', b)
        case _: print('no')
for x in (UserDict(a=1), Low(A=1), ChainMap({'a': 1}), OrderedDict(a=1)):
    match x:
        case {'a': v, **rest}: print('map', v, rest)
        case _: print('no')
class M(type):
    def __instancecheck__(cls, obj): return hasattr(obj, 'plug') or type.__instancecheck__(cls, obj)
class A(metaclass=M): pass
print(isinstance(3, A), isinstance(A(), A), isinstance(A(), (int, A)))
