# A vending machine, a queue of events, a matrix, numerical methods.
import heapq, math, itertools, functools, json, re, string
from collections import defaultdict, deque, Counter, OrderedDict, namedtuple
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Optional
class State(Enum):
    IDLE = auto(); HAS_COIN = auto(); SOLD = auto()
    @property
    def nxt(self): return {State.IDLE: State.HAS_COIN, State.HAS_COIN: State.SOLD, State.SOLD: State.IDLE}[self]
class Vending:
    PRICES = {"cola": 150, "chips": 100}
    def __init__(self): self.state, self.credit, self.stock = State.IDLE, 0, Counter(cola=1, chips=2)
    def __repr__(self): return f"{type(self).__name__}<{self.state.name}, credit={self.credit / 100:.2f}>"
    def insert(self, c):
        if c not in (5, 10, 25, 50, 100): raise ValueError(f"bad coin: {c}")
        self.credit += c; self.state = State.HAS_COIN; return self
    def buy(self, what):
        try: price = self.PRICES[what]
        except KeyError: raise LookupError(f"no such product {what!r}") from None
        if not self.stock[what]: raise RuntimeError("sold out")
        if self.credit < price: raise RuntimeError(f"need {price - self.credit} more")
        self.stock[what] -= 1; change, self.credit = self.credit - price, 0; self.state = self.state.nxt.nxt
        return what, self.make_change(change)
    @staticmethod
    def make_change(n): return {c: k for c in (100, 50, 25, 10, 5) if (k := n // c) and ((n := n % c), True)[1]}
v = Vending()
for act in ("v.insert(100).insert(100)", 3, "cola", "cola", "gum", "chips"):
    try:
        if act == "v.insert(100).insert(100)": print(v.insert(100).insert(100))
        elif isinstance(act, int): v.insert(act)
        else: print(v.buy(act), v)
    except (ValueError, LookupError, RuntimeError) as e: print(type(e).__name__, e, e.__cause__, e.__suppress_context__)
@dataclass(order=True)
class Event:
    time: float
    prio: int = field(default=0)
    name: str = field(compare=False, default="?")
    data: dict = field(compare=False, default_factory=dict, repr=False)
class Sim:
    def __init__(self): self.q, self.now, self.log, self.seq = [], 0.0, [], itertools.count()
    def at(self, dt, name, prio=0, **d): heapq.heappush(self.q, Event(self.now + dt, prio, name, d)); return self
    def run(self, until=10):
        while self.q and self.q[0].time <= until:
            e = heapq.heappop(self.q); self.now = e.time; getattr(self, f"on_{e.name}", self.default)(e)
        return self
    def default(self, e): self.log.append(f"{e.time:g}:unhandled {e.name}")
    def on_arrive(self, e):
        self.log.append(f"{self.now:.1f}:arrive {e.data['who']}")
        self.at(1.5, "leave", who=e.data["who"])
        if e.data.get("n", 0) > 0: self.at(2, "arrive", who=chr(ord(e.data["who"]) + 1), n=e.data["n"] - 1)
    def on_leave(self, e): self.log.append(f"{self.now:.1f}:leave {e.data['who']}")
s = Sim().at(0, "arrive", who="a", n=3).at(0, "tick", prio=-1).run(); print(s.log, s.now, len(s.q)); print(Event(1) < Event(2), Event(1, 0, "x") == Event(1, 0, "y"), sorted([Event(3), Event(1, 5), Event(1, 2)]))
class Matrix:
    def __init__(self, rows): self.r = [list(map(float, x)) for x in rows]
    @classmethod
    def eye(cls, n): return cls([[i == j for j in range(n)] for i in range(n)])
    def __matmul__(self, o): return Matrix([[sum(a * b for a, b in zip(r, c)) for c in zip(*o.r)] for r in self.r])
    def __pow__(self, n): return functools.reduce(lambda a, _: a @ self, range(n), Matrix.eye(len(self.r)))
    def __getitem__(self, ij): i, j = ij; return self.r[i][j]
    def __setitem__(self, ij, v): self.r[ij[0]][ij[1]] = v
    def __eq__(self, o): return all(math.isclose(a, b, abs_tol=1e-9) for x, y in zip(self.r, o.r) for a, b in zip(x, y))
    @property
    def T(self): return Matrix(zip(*self.r))
    def det(self):
        m, d = [r[:] for r in self.r], 1.0
        for i in range(len(m)):
            p = max(range(i, len(m)), key=lambda k: abs(m[k][i]))
            if m[p][i] == 0: return 0.0
            if p != i: m[i], m[p] = m[p], m[i]; d = -d
            d *= m[i][i]
            for k in range(i + 1, len(m)):
                f = m[k][i] / m[i][i]; m[k] = [a - f * b for a, b in zip(m[k], m[i])]
        return d
    def __str__(self): return "\n".join(" ".join(f"{x:8.3f}" for x in r) for r in self.r)
M = Matrix([[2, 1, 3], [0, -1, 4], [1, 2, 5]]); print(M, M.det(), M.T.det(), (M ** 3)[0, 0], M @ Matrix.eye(3) == M, sep="\n"); M[0, 0] = 9; print(M[0, 0])
def newton(f, df, x, tol=1e-12):
    for i in range(50):
        x1 = x - f(x) / df(x)
        if abs(x1 - x) < tol: return x1, i
        x = x1
    raise ArithmeticError("no convergence")
print(newton(lambda x: x * x - 2, lambda x: 2 * x, 1.0), newton(math.cos, lambda x: -math.sin(x), 1.0), sum(1 / math.factorial(k) for k in range(18)), 4 * sum((-1) ** k / (2 * k + 1) for k in range(1000)), math.exp(-0.5), 1000 * (1 + .05 / 12) ** 120, sum(x ** .5 for x in range(20)), math.log(10), math.log(2.5, 3), math.tanh(.3), 10 ** .5 * 1e5, 2 ** .1, math.e ** math.pi, math.pi ** math.e)
def simpson(f, a, b, n=100): h = (b - a) / n; return h / 3 * (f(a) + f(b) + 4 * sum(f(a + i * h) for i in range(1, n, 2)) + 2 * sum(f(a + i * h) for i in range(2, n, 2)))
print(simpson(math.sin, 0, math.pi), simpson(lambda x: math.exp(-x * x), -3, 3))
def mean_std(xs): m = sum(xs) / len(xs); return m, math.sqrt(sum((x - m) ** 2 for x in xs) / (len(xs) - 1))
print(mean_std([2.5, 3.7, 1.2, 9.9]), [round(x, 3) for x in (math.sin(1), math.cos(1), math.tan(1), math.asin(.5), math.acos(.5), math.atan(1), math.atan2(-1, -1))])
seed = 42
def lcg():
    global seed
    seed = (1103515245 * seed + 12345) & 0x7fffffff
    return seed / 0x7fffffff
print([round(lcg(), 6) for _ in range(4)], sum((lcg() ** 2 + lcg() ** 2) <= 1 for _ in range(2000)) / 500, (lambda u, w: math.sqrt(-2 * math.log(u)) * math.cos(2 * math.pi * w))(lcg(), lcg()))
