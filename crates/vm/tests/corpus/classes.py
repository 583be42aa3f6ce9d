import functools
from dataclasses import dataclass, field
from enum import Enum, IntEnum, auto, Flag
from abc import ABC, abstractmethod
from typing import List, Optional
class Vec:
    __slots__ = ("x", "y")
    def __init__(self, x, y): self.x, self.y = x, y
    def __add__(self, o): return Vec(self.x + o.x, self.y + o.y)
    def __sub__(self, o): return Vec(self.x - o.x, self.y - o.y)
    def __mul__(self, k):
        if isinstance(k, Vec): return self.x * k.x + self.y * k.y
        if isinstance(k, (int, float)): return Vec(self.x * k, self.y * k)
        return NotImplemented
    def __rmul__(self, k): return self * k
    def __neg__(self): return Vec(-self.x, -self.y)
    def __eq__(self, o): return isinstance(o, Vec) and (self.x, self.y) == (o.x, o.y)
    def __hash__(self): return hash((self.x, self.y))
    def __repr__(self): return f"Vec({self.x}, {self.y})"
    def __bool__(self): return bool(self.x or self.y)
    def __len__(self): return 2
    def __getitem__(self, i): return (self.x, self.y)[i]
    def __iter__(self): return iter((self.x, self.y))
    def __contains__(self, v): return v in (self.x, self.y)
    def __call__(self, *a, **k): return ("called", a, k)
    def __abs__(self): return (self.x ** 2 + self.y ** 2) ** 0.5
    def __format__(self, spec): return f"<{self.x:{spec}},{self.y:{spec}}>"
v, w = Vec(1, 2), Vec(3, 4)
print(v + w, w - v, v * 3, 3 * v, v * w, -v, v == Vec(1, 2), v != w, abs(w), bool(Vec(0, 0)), len(v), v[1], list(v), 2 in v, v(1, a=2), f"{w:.1f}", {v: 1}[Vec(1, 2)], sum([v, w], Vec(0, 0)))
try: v * "a"
except TypeError as e: print(e)
class A:
    def who(self): return "A"
    def __getattr__(self, name): return "missing " + name
class B(A):
    def who(self): return "B" + super().who()
class C(A):
    def who(self): return "C" + super().who()
class D(B, C):
    def who(self): return "D" + super().who()
print(D().who(), [k.__name__ for k in D.__mro__], D().anything, D.__bases__ == (B, C), D.__name__)
@dataclass
class Point:
    x: int
    y: int = 0
    tags: list = field(default_factory=list)
    def norm(self): return self.x ** 2 + self.y ** 2
@dataclass(frozen=True, order=True)
class Ver:
    major: int
    minor: int = 0
p = Point(1, tags=["a"]); print(p, p == Point(1, 0, ["a"]), p.norm(), Point(2).tags, sorted([Ver(2, 1), Ver(1, 5)]), Ver(1) < Ver(2), {Ver(1): "x"}[Ver(1)])
try: Ver(1).major = 3
except Exception as e: print(type(e).__name__, e)
try: Point()
except TypeError as e: print(e)
class Color(Enum):
    RED = 1
    GREEN = 2
    BLUE = auto()
    def describe(self): return self.name.lower()
class Num(IntEnum):
    ONE = 1
    TWO = 2
class Perm(Flag):
    R = 4
    W = 2
print(Color.RED, repr(Color.BLUE), Color(2), Color["RED"], [c.name for c in Color], Color.RED == Color.RED, Color.RED is Color(1), Color.GREEN.describe(), Num.ONE + 1, Num.TWO > 1, len(Color), Color.RED in Color, {Color.RED: 1}[Color.RED], (Perm.R | Perm.W).value, Perm.R in (Perm.R | Perm.W))
try: Color(9)
except ValueError as e: print(e)
class Shape(ABC):
    @abstractmethod
    def area(self): ...
    def describe(self): return f"{type(self).__name__} {self.area():.2f}"
class Sq(Shape):
    def __init__(self, s): self.s = s
    def area(self): return self.s ** 2
print(Sq(2).describe())
try: Shape()
except TypeError as e: print(type(e).__name__)
class Desc:
    def __set_name__(self, owner, name): self.name = "_" + name
    def __get__(self, obj, cls): return self if obj is None else getattr(obj, self.name, "unset")
    def __set__(self, obj, value): setattr(obj, self.name, value * 2)
class Has:
    d = Desc()
h = Has(); print(h.d); h.d = 21; print(h.d, h.__dict__, vars(h))
class Meta(type):
    registry = []
    def __new__(m, name, bases, ns):
        cls = super().__new__(m, name, bases, ns)
        m.registry.append(name)
        return cls
class Base(metaclass=Meta): pass
class Child(Base): pass
print(Meta.registry, type(Child).__name__)
class Plug:
    subs = []
    def __init_subclass__(cls, tag=None, **kw):
        super().__init_subclass__(**kw)
        Plug.subs.append((cls.__name__, tag))
class P1(Plug, tag="one"): pass
print(Plug.subs)
class Stack(list):
    def push(self, x): self.append(x)
    def peek(self): return self[-1]
s = Stack([1, 2]); s.push(3); print(s, s.peek(), len(s), isinstance(s, list), s + [4], [x for x in s], s == [1, 2, 3])
class LowerDict(dict):
    def __setitem__(self, k, v): super().__setitem__(k.lower(), v)
    def __missing__(self, k): return "no " + k
ld = LowerDict(); ld["ABC"] = 1; print(ld, ld["abc"], ld["zzz"], "abc" in ld, dict(ld))
class Temp(float):
    def f(self): return self * 9 / 5 + 32
print(Temp(100).f(), Temp(1.5) + 1)
class Singleton:
    _i = None
    def __new__(cls, *a):
        if cls._i is None: cls._i = super().__new__(cls)
        return cls._i
print(Singleton() is Singleton())
@functools.lru_cache(maxsize=None)
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
print(fib(80), fib.cache_info().hits)
def deco(tag):
    def wrap(f):
        @functools.wraps(f)
        def inner(*a, **k): return f"{tag}:{f(*a, **k)}"
        return inner
    return wrap
@deco("t")
def greet(name, punct="!"):
    "doc"
    return "hi " + name + punct
print(greet("bob"), greet("al", punct="?"), greet.__name__, greet.__doc__, functools.reduce(lambda a, b: a * b, range(1, 6)), functools.partial(greet, "zed")())
class K:
    n = 0
    def __enter__(self): return self
    def __exit__(self, *a): return False
    @classmethod
    def inc(cls): cls.n += 1; return cls
    @staticmethod
    def st(a, b=1): return a + b
print(K.inc().inc().n, K.st(1), K().st(2, b=3), callable(K), callable(3))
