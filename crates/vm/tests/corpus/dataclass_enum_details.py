from dataclasses import dataclass, field, asdict, replace, fields, InitVar
from enum import Enum, IntEnum, Flag, auto
from functools import cached_property, lru_cache, wraps, partial, reduce, singledispatchmethod
@dataclass
class A:
    x: int
    y: list = field(default_factory=list, repr=False)
    z: InitVar[int] = 3
    w: int = field(init=False, default=7)
    def __post_init__(self, z): self.x += z
print(A(1), A(1).w, A(1, z=10).x, A(2) == A(2), asdict(A(1)))
@dataclass(order=True, frozen=True, slots=True)
class B:
    k: str
    v: int = 0
print(sorted([B('b'), B('a', 2), B('a', 1)]), {B('a'): 1}[B('a')], replace(B('q'), v=9), B.__name__)
try: B('a').k = 1
except Exception as e: print(type(e).__name__)
@dataclass(unsafe_hash=True)
class Cc:
    a: int
    b: int = field(hash=False, default=0)
print(hash(Cc(1, 2)) == hash(Cc(1, 3)))
try:
    @dataclass
    class Bad:
        a: int = 1
        b: int
except TypeError as e: print(e)
try:
    @dataclass
    class Bad2:
        a: list = []
except ValueError as e: print(e)
class Op(Enum):
    ADD = ('+', lambda a, b: a + b)
    MUL = ('*', lambda a, b: a * b)
    def __init__(self, sym, fn): self.sym = sym; self.fn = fn
    def __call__(self, a, b): return self.fn(a, b)
    @classmethod
    def of(cls, s): return next(o for o in cls if o.sym == s)
print(Op.ADD(1, 2), Op.of('*')(3, 4), [o.name for o in Op], Op.ADD.sym)
class W(str, Enum):
    A = 'a'
    B = 'b'
print(W.A == 'a', W('b'), W.A.upper(), f'{W.A.value}', [w.value for w in W], W.A in ('a', 'b'), {'a': 1}[W.A], isinstance(W.A, str), sorted(W))
class Pf(Flag):
    R = 1
    W = 2
    RW = R | W
print(Pf.R | Pf.W == Pf.RW, Pf.RW.name, Pf(3), Pf.R in Pf.RW, [p.name for p in Pf], Pf.RW & ~Pf.W, bool(Pf(0)))
class M(Enum):
    def _generate_next_value_(name, start, count, last): return name.lower()
    ONE = auto()
    TWO = auto()
    @property
    def up(self): return self.value.upper()
    @staticmethod
    def default(): return M.ONE
print(list(M), M.TWO.up, M.default(), M('one'), M.ONE.name, hash(M.ONE) == hash(M.ONE), M.ONE is M['ONE'], len(M), M.ONE != M.TWO)
try: M.ONE.value = 3
except AttributeError as e: print('AE')
class Cp:
    def __init__(self): self.n = 0
    @cached_property
    def v(self): self.n += 1; return self.n
c = Cp(); print(c.v, c.v, c.n); del c.v; print(c.v)
class Sd:
    @singledispatchmethod
    def show(self, x): return 'obj'
    @show.register
    def _(self, x: int): return 'int'
    @show.register(str)
    def _(self, x): return 'str'
print(Sd().show(1), Sd().show('a'), Sd().show([]))
class Sing:
    _i = None
    def __new__(cls):
        if cls._i is None: cls._i = super().__new__(cls)
        return cls._i
print(Sing() is Sing())
class Reg:
    items = {}
    @classmethod
    def add(cls, name):
        def d(f): cls.items[name] = f; return f
        return d
@Reg.add('x')
def fx(): return 'fx'
print(Reg.items['x'](), fx.__name__)
def typed(**types):
    def d(f):
        @wraps(f)
        def w(*a, **k):
            for (n, t), v in zip(types.items(), a):
                if not isinstance(v, t): raise TypeError(f'{n}: {t.__name__}')
            return f(*a, **k)
        return w
    return d
@typed(a=int, b=str)
def tf(a, b): return b * a
print(tf(2, 'x'))
try: tf('2', 'x')
except TypeError as e: print(e)
class Chain:
    def __init__(self, v=()): self.v = list(v)
    def __getattr__(self, n):
        if n.startswith('_'): raise AttributeError(n)
        return lambda *a: Chain(self.v + [(n, *a)])
print(Chain().select('a').where(1, 2).limit(5).v)
class Money:
    def __init__(s, c): s.c = c
    def __add__(s, o): return Money(s.c + (o.c if isinstance(o, Money) else o))
    __radd__ = __add__
    def __repr__(s): return f'${s.c / 100:.2f}'
    def __format__(s, f): return f'{s.c / 100:{f or ".2f"}}'
    def __iadd__(s, o): s.c += o.c if isinstance(o, Money) else o; return s
print(sum([Money(150), Money(250)]), Money(5) + 5, f'{Money(12345):10.1f}|{Money(5)}')
m = Money(1); m2 = m; m += Money(9); print(m2)
