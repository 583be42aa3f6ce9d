# Items, events, shapes, stacks, transactions, retries.
from __future__ import annotations
import re, json, math, itertools, functools, collections, string, operator, heapq, copy
from collections import defaultdict, Counter, namedtuple, deque, OrderedDict
from dataclasses import dataclass, field, asdict, astuple, fields, replace, InitVar, KW_ONLY
from enum import Enum, IntEnum, Flag, auto
from typing import Callable, ClassVar, Iterable, Generic, TypeVar, Protocol, runtime_checkable, overload, cast, Final, TYPE_CHECKING, NewType, Literal
from contextlib import contextmanager, suppress, ExitStack, closing
T = TypeVar("T"); K = TypeVar("K", bound="Comparable"); UserId = NewType("UserId", int)
MAX: Final = 10
@runtime_checkable
class Priced(Protocol):
    price: float
    def total(self) -> float: ...
@dataclass(order=True)
class Item:
    sort_index: tuple = field(init=False, repr=False)
    name: str
    price: float
    qty: int = field(default=1, metadata={"unit": "pcs"})
    tags: frozenset[str] = field(default_factory=frozenset, compare=False)
    registry: ClassVar[dict] = {}
    discount: InitVar[float] = 0.0
    def __post_init__(self, discount):
        if self.qty < 0: raise ValueError(f"qty must be >= 0, got {self.qty}")
        self.price = round(self.price * (1 - discount), 2)
        self.sort_index = (-self.price, self.name)
        Item.registry[self.name] = self
    def total(self) -> float: return self.price * self.qty
items = [Item("bolt", .25, 100), Item("nut", .1, 250, frozenset({"m4"})), Item("gear", 12.5, 3, discount=.1), Item("belt", 30)]
print(*sorted(items), sep="\n")
print(isinstance(items[0], Priced), isinstance(5, Priced), list(Item.registry), [f.name for f in fields(Item)], fields(Item)[3].metadata["unit"], asdict(items[1]) if 0 else astuple(items[3]))
try: Item("bad", 1, -1)
except ValueError as e: print("error:", e)
try: Item()
except TypeError as e: print(e)
@dataclass
class Opt:
    a: int
    _: KW_ONLY
    b: int = 2
    c: list[int] = field(default_factory=list)
print(Opt(1, b=3, c=[1]), Opt(1) == Opt(1), replace(Opt(1), a=9))
try: Opt(1, 2)
except TypeError as e: print(e)
@dataclass(frozen=True)
class Pt:
    x: float = 0; y: float = 0
    def __add__(self, o): return Pt(self.x + o.x, self.y + o.y)
    @property
    def r(self): return math.hypot(self.x, self.y)
    @classmethod
    def polar(cls, r, t): return cls(round(r * math.cos(t), 10), round(r * math.sin(t), 10))
print(Pt(3, 4).r, Pt.polar(2, math.pi / 2), sum([Pt(1, 1), Pt(2, 2)], Pt()), {Pt(1, 2): "v"}[Pt(1, 2)], hash(Pt(1, 2)) == hash(Pt(1, 2)))
try: object.__setattr__(Pt(), "z", 5); Pt().x = 1
except AttributeError as e: print(type(e).__name__, e)
@dataclass
class Base: a: int; b: str = "b"
@dataclass
class Child(Base): c: float = 1.5; b: str = "over"
print(Child(1), Child.__match_args__, Child.__dataclass_fields__.keys() if hasattr(Child, "__dataclass_fields__") else "", Base.__eq__(Base(1), Child(1)))
@dataclass(eq=False, repr=False)
class NoEq: v: int
print(NoEq(1) == NoEq(1), hash(NoEq(1)) is not None)
class Event:
    _handlers: dict[str, list[Callable]] = defaultdict(list)
    @classmethod
    def on(cls, name):
        def deco(f): cls._handlers[name].append(f); return f
        return deco
    @classmethod
    def emit(cls, name, *a, **k): return [h(*a, **k) for h in cls._handlers.get(name, [])]
@Event.on("sale")
@Event.on("refund")
def log(item, n=1): return f"{item}x{n}"
@Event.on("sale")
def audit(item, **kw): return (item, kw)
print(Event.emit("sale", "bolt", n=3), Event.emit("refund", "nut"), Event.emit("zzz"))
class Shape(Enum):
    CIRCLE = ("circle", lambda r: math.pi * r ** 2); SQ = ("sq", lambda s: s * s)
    def __init__(self, label, fn): self.label = label; self.fn = fn
    def area(self, x): return round(self.fn(x), 4)
    @classmethod
    def parse(cls, s): return next((m for m in cls if m.label == s), None)
    @classmethod
    def _missing_(cls, v): return cls.SQ if v == "square" else None
print(Shape.CIRCLE.area(2), Shape.parse("sq"), Shape("square"), Shape.CIRCLE.name, [s.label for s in Shape])
try: Shape("tri")
except ValueError as e: print(e)
class Pri(IntEnum): LOW = 1; MED = 5; HIGH = 10
class Perm(Flag): R = 4; W = 2; X = 1; RW = R | W
print(sorted([Pri.HIGH, Pri.LOW]), Pri.MED > 3, Pri(10).name, Pri["LOW"] + 1, max(Pri), Perm.RW, Perm.R | Perm.X, Perm(7), Perm.R in Perm.RW, ~Perm.R, Perm.RW & Perm.W, [p.name for p in Perm], bool(Perm.R & Perm.W), json.dumps({"p": Pri.HIGH}), f"{Pri.HIGH:>5}|{Pri.HIGH!r}", {Pri.LOW: 1}[1])
class Stack(Generic[T]):
    def __init__(self, items: Iterable[T] = ()) -> None: self._d: list[T] = list(items)
    def push(self, x: T) -> "Stack[T]": self._d.append(x); return self
    def pop(self) -> T:
        if not self._d: raise IndexError("pop from empty stack")
        return self._d.pop()
    def __len__(self): return len(self._d)
    def __iter__(self): return iter(reversed(self._d))
    def __repr__(self): return f"Stack({self._d!r})"
s: Stack[int] = Stack[int]([1, 2]); s.push(3).push(4); print(s, len(s), list(s), s.pop(), bool(Stack()))
try: Stack().pop()
except IndexError as e: print(e)
@contextmanager
def txn(d):
    snap = copy.deepcopy(d)
    try: yield d
    except Exception as e: d.clear(); d.update(snap); print("rolled back:", type(e).__name__, e); raise
    else: print("committed")
    finally: print("done")
acct = {"a": [1]}
with suppress(ZeroDivisionError):
    with txn(acct) as t: t["a"].append(2); 1 / 0
print(acct)
with txn(acct) as t: t["b"] = 2
print(acct)
with ExitStack() as st:
    for n in "xyz": st.callback(print, "cleanup", n)
    st.push(lambda *exc: print("exc", exc[0] and exc[0].__name__) or True)
    raise KeyError("in stack")
def retry(times, exc=Exception):
    def deco(f):
        @functools.wraps(f)
        def w(*a, **k):
            for i in range(1, times + 1):
                try: return f(*a, **k)
                except exc as e:
                    print(f"attempt {i} failed: {e!r}")
                    if i == times: raise RuntimeError(f"gave up after {times}") from e
        return w
    return deco
n = itertools.count()
@retry(3, ValueError)
def flaky():
    if next(n) < 2: raise ValueError("not yet")
    return "ok"
print(flaky())
@retry(1)
def broken(): raise KeyError("k")
try: broken()
except RuntimeError as e: print(e, "<-", repr(e.__cause__))
def memo(f, cache={}):
    def w(*a):
        if a not in cache: cache[a] = f(*a)
        return cache[a]
    return w
@memo
def ack(m, n): return n + 1 if m == 0 else ack(m - 1, 1) if n == 0 else ack(m - 1, ack(m, n - 1))
print(ack(2, 3), cast(int, "x"), UserId(5), TYPE_CHECKING)
pipeline = [str.strip, str.lower, lambda s: re.sub(r"[^a-z0-9]+", "-", s), lambda s: s.strip("-")]
print([functools.reduce(lambda acc, f: f(acc), pipeline, x) for x in ("  Hello, World!  ", "Foo__Bar", "--x--")])
