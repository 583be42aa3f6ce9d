# Every operator a class can have, and classes that extend builtin ones.
class Vec:
    def __init__(self, *c): self.c = list(c)
    def __repr__(self): return f"{type(self).__name__}({', '.join(map(repr, self.c))})"
    def __eq__(self, o): return self.c == o.c if isinstance(o, Vec) else NotImplemented
    def __add__(self, o):
        if not isinstance(o, Vec): return NotImplemented
        return Vec(*(a + b for a, b in zip(self.c, o.c)))
    def __iadd__(self, o): self.c = [a + b for a, b in zip(self.c, o)]; return self
    def __mul__(self, k): return Vec(*(a * k for a in self.c)) if isinstance(k, (int, float)) else NotImplemented
    def __rmul__(self, k): print("r"); return self * k
    def __matmul__(self, o): return sum(a * b for a, b in zip(self.c, o.c))
    def __len__(self): return len(self.c)
    def __getitem__(self, i): return Vec(*self.c[i]) if isinstance(i, slice) else self.c[i]
    def __setitem__(self, i, v): self.c[i] = v
    def __delitem__(self, i): del self.c[i]
    def __contains__(self, x): return x in self.c
    def __bool__(self): return any(self.c)
    def __neg__(self): return self * -1
    def __abs__(self): return sum(x * x for x in self.c) ** .5
    def __call__(self, f): return Vec(*map(f, self.c))
    def __invert__(self): return Vec(*self.c[::-1])
    def __pow__(self, n, mod=None): return Vec(*(pow(x, n, mod) for x in self.c))
    def __divmod__(self, k): return Vec(*(x // k for x in self.c)), Vec(*(x % k for x in self.c))
    def __rsub__(self, o): return f"rsub {o}"
    def __lshift__(self, n): return Vec(*(x << n for x in self.c))
    def __and__(self, o): return "and"
    def __ror__(self, o): return "ror"
    def __floordiv__(self, o): return "fd"
    def __index__(self): return 3
    def __round__(self, n=0): return Vec(*(round(x, n) for x in self.c))
    def __int__(self): return 42
    def __float__(self): return 4.5
    def __complex__(self): return None
    def __trunc__(self): return 9
    def __hash__(self): return hash(tuple(self.c))
    def __lt__(self, o): return abs(self) < abs(o)
    def __getattr__(self, n):
        if n in "xyz": return self.c["xyz".index(n)]
        raise AttributeError(f"no {n}")
    def __dir__(self): return ["c"]
    def __missing__(self, k): return 1
    def __sizeof__(self): return 1
    def __reversed__(self): return iter(self.c[::-1])
    def __enter__(self): print("enter"); return self
    def __exit__(self, t, v, tb): print("exit", t.__name__ if t else None, v); return True
v, w = Vec(1, 2, 3), Vec(4, 5, 6)
print(v + w, v * 2, 2 * v, v @ w, -v, abs(Vec(3, 4)), ~v, v(str), v ** 2, pow(v, 2, 3), divmod(v, 2), 5 - v, v << 1, v & 1, 1 | v, v // 1)
u = v; u += w; print(u is v, v); v[0] = 100; del v[1]; print(v, v[0:1], v[-1], 100 in v, len(v), bool(Vec(0)), v.x, list(v), list(reversed(v)))
print([10, 20, 30, 40][Vec()], round(Vec(1.234, 2.345), 1), int(v), float(v), hex(v), "ab" * Vec(1), sorted([w, Vec(1)]), hash(w) == hash((4, 5, 6)))
for bad in (lambda: v + 1, lambda: 1 + v, lambda: v - 1, lambda: v @ 5, lambda: v.q, lambda: v > 5, lambda: v >= w, lambda: v | 1, lambda: "a" * v.zz, lambda: v % 2, lambda: +v, lambda: v * "a"):
    try: print(bad())
    except Exception as e: print(type(e).__name__, e)
print(v == 5, v != w, v == Vec(*v.c), w > Vec(1))
with v as q: print(q is v); raise ValueError("in with")
class Base:
    def __add__(self, o): return "Base.add"
    def __radd__(self, o): return "Base.radd"
class Der(Base):
    def __radd__(self, o): return "Der.radd"
print(Base() + Der(), Der() + Base(), 1 + Der(), Base() + 1)
class Cmp:
    def __eq__(self, o): return "eq"
    def __ne__(self, o): return "ne"
    def __lt__(self, o): return []
    def __gt__(self, o): return NotImplemented
print(Cmp() == 1, 1 == Cmp(), Cmp() != 1, Cmp() < 1, 1 > Cmp())
try: Cmp() > 1
except TypeError as e: print(e)
try: hash(Cmp())
except TypeError as e: print(e)
class L(list):
    def __getitem__(self, i): return super().__getitem__(i % len(self))
    def append(self, x): super().append(x * 2)
l = L([1, 2, 3]); l.append(5); print(l, l[5], len(l), isinstance(l, list), l == [1, 2, 3, 10], l + [1], type(l + [1]).__name__, l[1:3] if 0 else "")
class D(dict):
    def __missing__(self, k): self[k] = k * 2; return self[k]
    def __setitem__(self, k, v): super().__setitem__(k, v)
d = D(); print(d[4], d, d.get(5), 4 in d, {**d}, dict(d), len(d))
class Str(str):
    def __new__(cls, v, tag="t"): o = super().__new__(cls, v); o.tag = tag; return o
    def shout(self): return self.upper() + "!"
    def __format__(self, spec): return str.__format__(self.upper(), spec)
s = Str("abc", tag="q"); print(s.shout(), s.tag, s + "d", len(s), f"{s:>6}", s[1:], isinstance(s[1:], Str), {s: 1}, s == "abc")
class T(tuple):
    def __new__(cls, *a): return super().__new__(cls, a)
    @property
    def first(self): return self[0]
print(T(1, 2), T(1, 2).first, T(1) + T(2), T(3, 1) > (2, 5), hash(T(1)) == hash((1,)))
class I(int):
    def __add__(self, o): return I(int(self) + int(o) + 1)
    def __repr__(self): return f"I({int(self)})"
print(I(3) + 4, 4 + I(3), I(3) * 2, I(5) == 5, [I(1)], f"{I(7)}", f"{I(7):03d}", str(I(7)), sum([I(1), I(2)]))
class FS(frozenset): pass
print(FS([1]), FS([1]) | {2}, type(FS([1]) | {2}).__name__, set([1]) == FS([1]))
