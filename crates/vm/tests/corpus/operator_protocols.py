# iterator/generic protocols with user classes
class Vec:
    __slots__ = ('x', 'y')
    def __init__(self, x, y): self.x, self.y = x, y
    def __repr__(self): return f'Vec({self.x}, {self.y})'
    def __add__(self, o): return Vec(self.x + o.x, self.y + o.y) if isinstance(o, Vec) else NotImplemented
    def __sub__(self, o): return self + -o
    def __neg__(self): return Vec(-self.x, -self.y)
    def __mul__(self, k): return Vec(self.x * k, self.y * k) if isinstance(k, (int, float)) else self.x * k.x + self.y * k.y
    __rmul__ = __mul__
    def __truediv__(self, k): return Vec(self.x / k, self.y / k)
    def __floordiv__(self, k): return Vec(self.x // k, self.y // k)
    def __mod__(self, k): return Vec(self.x % k, self.y % k)
    def __abs__(self): return (self.x ** 2 + self.y ** 2) ** .5
    def __eq__(self, o): return (self.x, self.y) == (o.x, o.y)
    def __hash__(self): return hash((self.x, self.y))
    def __iter__(self): yield self.x; yield self.y
    def __getitem__(self, i): return (self.x, self.y)[i]
    def __bool__(self): return bool(self.x or self.y)
    def __complex__(self): return 0
    def __round__(self, n=0): return Vec(round(self.x, n), round(self.y, n))
    def __lt__(self, o): return abs(self) < abs(o)
    def __contains__(self, v): return v in (self.x, self.y)
    def __reversed__(self): return iter((self.y, self.x))
    def __len__(self): return 2
    def __invert__(self): return Vec(self.y, self.x)
    def __pos__(self): return self
    def __and__(self, o): return 'and'
    def __or__(self, o): return 'or'
    def __xor__(self, o): return 'xor'
    def __lshift__(self, n): return 'ls'
    def __rshift__(self, n): return 'rs'
    def __pow__(self, n, mod=None): return ('pow', n, mod)
    def __divmod__(self, o): return ('dm', o)
    def __rsub__(self, o): return ('rsub', o)
    def __rtruediv__(self, o): return ('rtd', o)
a, b = Vec(1, 2), Vec(3, 4)
print(a + b, b - a, -a, a * 3, 3 * a, a * b, b / 2, b // 2, b % 2, abs(b), a == Vec(1, 2), a != b, {a: 1}[Vec(1, 2)], [*a], a[0], a[-1], bool(Vec(0, 0)), sorted([b, a]), 3 in b, list(reversed(b)), len(a), ~a, +a, a & b, a | b, a ^ b, a << 1, a >> 1, a ** 2, divmod(a, 1), 5 - a, 5 / a, round(Vec(1.26, 2.71), 1), sum([a, b], Vec(0, 0)), max(a, b), dict([a]), tuple(a))
x, y = a; print(x, y)
try: a + 1
except TypeError as e: print(e)
try: a.z = 1
except AttributeError as e: print(e)
try: a < 'x'
except AttributeError as e: print(type(e).__name__)
except TypeError as e: print(type(e).__name__)
class Chain:
    def __init__(self, path=''): self._p = path
    def __getattr__(self, n): return Chain(f'{self._p}/{n}')
    def __call__(self, *a): return Chain(f"{self._p}({','.join(map(str, a))})")
    def __str__(self): return self._p
    __repr__ = __str__
print(Chain().users.list(1, 2).name)
class Meta(type):
    def __getitem__(cls, k): return f'{cls.__name__}[{k}]'
    def __contains__(cls, k): return k == 'in'
    def __call__(cls, *a, **k):
        if not hasattr(cls, '_inst'): cls._inst = super().__call__(*a, **k)
        return cls._inst
    @property
    def loud(cls): return cls.__name__.upper()
    def __lt__(cls, o): return cls.__name__ < o.__name__
    def __str__(cls): return 'M:' + cls.__name__
class Single(metaclass=Meta):
    def __init__(self, v): self.v = v
print(Single(1) is Single(2), Single(3).v, Single['k'], 'in' in Single, Single.loud, str(Single), f'{Single}')
class Typed:
    def __init__(self, kind): self.kind = kind
    def __set_name__(self, owner, name): self.name = name
    def __get__(self, obj, owner=None): return self if obj is None else obj.__dict__[self.name]
    def __set__(self, obj, v):
        if not isinstance(v, self.kind): raise TypeError(f'{self.name} must be {self.kind.__name__}, got {type(v).__name__}')
        obj.__dict__[self.name] = v
    def __delete__(self, obj): raise AttributeError('no')
class Person:
    name = Typed(str); age = Typed(int)
    def __init__(self, name, age): self.name, self.age = name, age
p = Person('x', 3); print(p.name, p.age, p.__dict__)
for bad in (lambda: Person(1, 2), lambda: setattr(p, 'age', 'x'), lambda: delattr(p, 'age')):
    try: bad()
    except (TypeError, AttributeError) as e: print(e)
class Lazy:
    def __get__(self, o, t): print('nondata'); return 42
class L: v = Lazy()
l = L(); print(l.v); l.__dict__['v'] = 7; print(l.v)
class Base:
    def __new__(cls, *a, **k): print('new', cls.__name__, a); return super().__new__(cls)
    def __init__(self, *a): print('init', a)
class Der(Base):
    def __init__(self, a, b=2): super().__init__(a); self.ab = a + b
print(Der(1).ab)
class Str(str):
    def shout(self): return self.upper() + '!'
    def __add__(self, o): return Str(str.__add__(self, o))
s = Str('hi'); print(s.shout(), (s + ' there').shout(), len(s), s == 'hi', {s: 1}['hi'], isinstance(s, str), s[0], type(s[0]).__name__, s.replace('h', 'j'))
class D(dict):
    def __missing__(self, k): self[k] = v = k * 2; return v
    def __setitem__(self, k, v): super().__setitem__(k, v); self.__dict__['last'] = k
d = D(a=1); print(d['b'], d, d.last, d.get('zz'), 'q' in d, isinstance(d, dict), len(d), list(d))
class Li(list):
    def __getitem__(self, i): return super().__getitem__(i % len(self)) if isinstance(i, int) else Li(super().__getitem__(i))
    def sum(self): return sum(self)
li = Li([1, 2, 3]); print(li[5], li[0:2], li.sum(), li + [4], type(li + [4]).__name__, li == [1, 2, 3], sorted(li, reverse=True)); li.append(9); print(li, li.pop(), Li(x for x in 'ab'))
class T(tuple):
    def __new__(cls, *a): return super().__new__(cls, a)
    @property
    def first(self): return self[0]
t = T(1, 2); print(t, t.first, t + (3,), hash(t) == hash((1, 2)), t == (1, 2))
class N(int):
    def __new__(cls, v): return super().__new__(cls, v * 2)
    def __add__(self, o): return N((int(self) + o) // 2)
n = N(5); print(n, n + 2, n * 2, type(n * 2).__name__, n == 10, f'{n:04}', [0] * N(1), -n, abs(n), n > 3, str(n), repr(n), bool(n), hash(n) == hash(10))
class E(Exception):
    code = 5
    def __init__(self, *a, **k): super().__init__(*a); self.k = k
    def __str__(self): return f'E{self.args}{self.k}'
try: raise E(1, x=2)
except E as e: print(e, repr(e), e.code, e.args)
import functools
class Reg:
    handlers = {}
    @classmethod
    def on(cls, name):
        def deco(f): cls.handlers.setdefault(name, []).append(f); return f
        return deco
@Reg.on('a')
@Reg.on('b')
def h(x): return x + 1
print({k: [f(1) for f in v] for k, v in Reg.handlers.items()})
class CountCalls:
    def __init__(self, f): functools.update_wrapper(self, f); self.f = f; self.n = 0
    def __call__(self, *a): self.n += 1; return self.f(*a)
    def __get__(self, o, t=None): return functools.partial(self, o) if o is not None else self
class K:
    @CountCalls
    def m(self, x): "doc m"; return x * 2
k = K(); print(k.m(2), k.m(3), K.m.n, K.m.__name__, K.m.__doc__)
class Prop:
    @property
    def a(self): "the a"; return 1
    @staticmethod
    def s(): return 's'
    @classmethod
    def c(cls): return cls.__name__
    def i(self): return self
print(Prop.a.__doc__, Prop.s(), Prop.c(), Prop().c(), Prop.__dict__['s'].__func__(), Prop().i().a, Prop.i.__name__)
try: Prop().a = 3
except AttributeError as e: print(e)
