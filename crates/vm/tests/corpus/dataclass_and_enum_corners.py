from dataclasses import dataclass, field, asdict, astuple, replace, fields, is_dataclass, FrozenInstanceError, KW_ONLY, InitVar
from typing import ClassVar, List, Optional
@dataclass
class P:
    x: int
    y: int = 0
    tags: list = field(default_factory=list)
    _c: ClassVar[int] = 5
    def dist(self): return (self.x ** 2 + self.y ** 2) ** 0.5
print(P(1), P(1, 2) == P(1, 2), P(3, 4).dist(), P(1).tags is P(1).tags, asdict(P(1, tags=[P(2)])), astuple(P(1)), replace(P(1), y=9), [f.name for f in fields(P)], is_dataclass(P), P._c)
@dataclass(order=True, frozen=True)
class F:
    a: int
    b: str = 'q'
print(F(1) < F(2), sorted([F(2), F(1, 'z'), F(1, 'a')]), hash(F(1)) == hash(F(1)), {F(1): 1})
try: F(1).a = 2
except FrozenInstanceError as e: print(type(e).__name__, e)
try: del F(1).a
except FrozenInstanceError as e: print(type(e).__name__, e)
@dataclass
class Q(P):
    z: int = 7
    def __post_init__(self): self.total = self.x + self.y + self.z
print(Q(1, 2), Q(1).total, P(1) == Q(1), repr(Q(5, z=1)))
@dataclass
class KW:
    a: int
    _: KW_ONLY
    b: int = 2
    c: int = field(default=3, repr=False, compare=False)
print(KW(1, b=5), KW(1, c=9) == KW(1, c=8))
for f in (lambda: KW(1, 2), lambda: P(), lambda: P(1, 2, 3, 4), lambda: P(1, w=3), lambda: F(1) < 3, lambda: P(1) < P(2), lambda: hash(P(1)), lambda: replace(P(1), q=1), lambda: asdict(3)):
    try: print(f())
    except Exception as e: print(type(e).__name__, e)
@dataclass
class IV:
    a: int
    scale: InitVar[int] = 2
    out: int = field(init=False, default=0)
    def __post_init__(self, scale): self.out = self.a * scale
print(IV(3), IV(3, 5).out)
@dataclass(slots=True)
class SL:
    a: int = 1
print(SL())
try: SL().q = 1
except AttributeError as e: print(e)
@dataclass(eq=False, repr=False)
class NE: a: int = 1
print(NE() == NE(), NE().a)
@dataclass(unsafe_hash=True)
class UH: a: int = 1
print(hash(UH()) == hash(UH()))
try:
    @dataclass
    class Bad:
        a: int = 1
        b: int
except TypeError as e: print(e)
try:
    @dataclass
    class Bad2: a: list = []
except ValueError as e: print(e)
@dataclass
class M1:
    x: int
    y: int
match P(1, 2):
    case P(x=1, y=yy): print('m', yy)
match M1(3, 4):
    case M1(a, b): print(a, b)
print(M1.__match_args__, P.__dataclass_fields__['x'].name)
from enum import Enum, IntEnum, Flag, IntFlag, auto, unique, StrEnum
class Color(Enum):
    RED = 1
    GREEN = 2
    CRIMSON = 1
    def low(self): return self.name.lower()
    @property
    def dbl(self): return self.value * 2
    @classmethod
    def default(cls): return cls.RED
print(Color.RED, repr(Color.RED), Color(1), Color['GREEN'], Color.CRIMSON, Color.RED is Color.CRIMSON, list(Color), len(Color), Color.RED.low(), Color.GREEN.dbl, Color.default(), Color.RED == 1, Color.RED in Color, Color.__members__, isinstance(Color.RED, Color), {Color.RED: 1}, Color.RED.name, Color.RED.value, f'{Color.RED}', '%s' % Color.RED, str(Color.RED), hash(Color.RED) == hash(Color.RED), bool(Color.RED))
class N(IntEnum):
    A = 1
    B = auto()
    C = 10
print(N.A, repr(N.B), N.A + 1, N.C > N.B, N(10), sorted([N.C, N.A]), f'{N.A}', '%d' % N.B, N.A == 1, max(N), int(N.C), [1, 2, 3][N.A], isinstance(N.A, int), format(N.A, '03'))
class Fl(Flag):
    R = auto(); W = auto(); X = auto()
    RW = R | W
print(Fl.R | Fl.X, Fl.RW, repr(Fl.R | Fl.W), Fl.R in Fl.RW, Fl.X in Fl.RW, ~Fl.R, Fl.R & Fl.W, bool(Fl.R & Fl.W), Fl(3), Fl.RW ^ Fl.R, list(Fl), Fl(0), (Fl.R | Fl.X).value, [f for f in Fl.RW])
class IF(IntFlag):
    A = 1; B = 2
print(IF.A | IF.B, repr(IF.A | IF.B), IF.A + 1, IF(3), IF.A | 8, int(IF.A | IF.B))
class S(StrEnum):
    ONE = auto(); TWO = 'deux'
print(S.ONE, repr(S.TWO), S.ONE == 'one', S.TWO.upper(), f'{S.ONE}', S('deux'))
class St(str, Enum):
    A = 'a'
print(St.A, repr(St.A), St.A == 'a', f'{St.A}', St.A.upper(), '%s' % St.A, St('a'))
class Auto(Enum):
    def _generate_next_value_(name, start, count, last): return name.lower()
    X = auto(); Y = auto()
print(list(Auto))
class Planet(Enum):
    M = (1.0, 2.0); E = (3.0, 4.0)
    def __init__(self, mass, r): self.mass = mass; self.r = r
    @property
    def g(self): return self.mass / self.r
print(Planet.E.g, Planet.M.value, Planet((3.0, 4.0)))
class Miss(Enum):
    A = 1
    @classmethod
    def _missing_(cls, v): return cls.A
print(Miss(77))
for f in (lambda: Color(9), lambda: Color['X'], lambda: Color.X, lambda: setattr(Color, 'RED', 3), lambda: Color.RED < Color.GREEN, lambda: Color(), lambda: N('a'), lambda: Color.RED.foo, lambda: delattr(Color, 'RED')):
    try: print(f())
    except Exception as e: print(type(e).__name__, e)
try:
    @unique
    class U(Enum): A = 1; B = 1
except ValueError as e: print(e)
F2 = Enum('F2', 'A B C'); print(list(F2)); F3 = Enum('F3', {'X': 10}); print(F3.X.value); F4 = Enum('F4', ['P', 'Q']); print(F4.Q)
print(Color.RED.__class__, type(Color), Color, N, S)

try:
    class Z(Color): X = 3
except TypeError as e: print(e)
try: Fl(64)
except ValueError as e: print(e)
