# classes & misc features
class Meta(type):
    def __prepare__(name, bases, **kw):
        return {'injected': 1}
    def __new__(m, name, bases, ns, flag=False):
        c = super().__new__(m, name, bases, ns)
        c.flag = flag
        return c
    def __init__(cls, name, bases, ns, flag=False):
        super().__init__(name, bases, ns)
    def __iter__(cls):
        return iter(['a', 'b'])
    def __instancecheck__(cls, x):
        return x == 5 or type(x) is cls
class K(metaclass=Meta, flag=True):
    y = injected + 1
print(K.flag, K.y, K.injected, list(K), isinstance(5, K), isinstance(6, K))
class P:
    def __init__(self): self._x = 1
    @property
    def x(self): "doc x"; return self._x
    @x.setter
    def x(self, v): self._x = v
    @x.deleter
    def x(self): self._x = None
    def __repr__(self): return f'P({self._x})'
    def __bool__(self): return False
    def __len__(self): return 3
p = P(); p.x += 4; print(p, p.x, bool(p), len(p)); del p.x; print(p, P.x.__doc__)
class Q(P):
    @property
    def x(self): return super().x * 10
q = Q(); print(q.x)
try: q.x = 1
except AttributeError as e: print('AttributeError')
class S:
    instances = []
    def __new__(cls, *a):
        o = super().__new__(cls); cls.instances.append(o); return o
    def __init__(self, v=0): self.v = v
    def __eq__(self, o): return isinstance(o, S) and self.v == o.v
    def __class_getitem__(cls, k): return f'{cls.__name__}[{k}]'
    def __init_subclass__(cls, **kw): super().__init_subclass__(**kw); cls.kw = kw
print(S(1) == S(1), len(S.instances), S[int] if False else S['k'])
class T(S, a=1): pass
print(T.kw, T(3).v)
try: hash(S(1))
except TypeError as e: print(e)
class N(int):
    def __new__(cls, v): return super().__new__(cls, v * 2)
    def __repr__(self): return f'N({int(self)})'
    def __add__(self, o): return N((int(self) + o) // 2)
print(N(5), N(5) + 1, N(5) * 2, N(3) == 6, [N(1)], {N(2): 1}[4], sum([N(1), N(2)]), f'{N(4)}', str(N(4)), N(4) / 2, isinstance(N(1), int))
class L(list):
    def __getitem__(self, i): return super().__getitem__(i) * 2
    def total(self): return sum(self)
l = L([1, 2, 3]); l.append(4); print(l, l[0], l.total(), len(l), list(l), l + [5], l[1:], isinstance(l, list), l == [1, 2, 3, 4])
class D(dict):
    def __missing__(self, k): self[k] = k * 2; return self[k]
d = D(a=1); print(d['a'], d['b'], d, d.get('zz'), 'zz' in d)
class Str(str):
    def shout(self): return self.upper() + '!'
    def __len__(self): return 99
s = Str('abc'); print(s.shout(), len(s), s + 'd', s == 'abc', type(s + 'd').__name__, s[1], {s: 1}['abc'], s.replace('a', 'b'), f'{s:>5}')
class E(Exception):
    def __init__(self, a, b=2): super().__init__(a, b); self.a = a
    def __reduce__(self): return None
try: raise E(1)
except E as e: print(e, e.args, e.a, repr(e))
class C:
    __slots__ = ['a']
    x = 5
    def __getattr__(self, n): return n + '?'
    def __setattr__(self, n, v): object.__setattr__(self, n, v + 1)
c = C(); c.a = 1; print(c.a, c.b, c.x)
print(type('X', (), {})().__class__.__name__, type(c).__name__, C.__mro__[-1].__name__)
class Ctx:
    def __enter__(self): return self
    def __exit__(self, t, v, tb): print('exit', t and t.__name__); return t is KeyError
def f():
    with Ctx():
        return 'ret'
print(f())
for i in range(3):
    with Ctx():
        if i == 1: continue
        if i == 2: break
        raise KeyError
class It:
    def __init__(self, n): self.n = n
    def __iter__(self): return self
    def __next__(self):
        if self.n == 0: raise StopIteration
        self.n -= 1; return self.n
print(list(It(3)), sum(It(4)), [*It(2)], dict(zip('ab', It(2))), max(It(5)), sorted(It(3)), tuple(It(1)), 2 in It(4), ','.join(str(i) for i in It(3)))
a, b, *c = It(5); print(a, b, c)
def deco(n):
    def w(f):
        def inner(*a, **k): return f(*a, **k) * n
        return inner
    return w
@deco(2)
@deco(3)
def g(x, *, y=1): return x + y
print(g(1), g(1, y=2))
class F:
    def __call__(self, *a, **k): return a, k
    @staticmethod
    def s(x): return x
    @classmethod
    def c(cls, x): return cls.__name__, x
    def m(self): return self.__class__.__name__
print(F()(1, a=2), F.s(1), F().s(2), F.c(3), F().c(4), F.m(F()), F().m.__self__.__class__.__name__)
print(getattr(F, 'nope', 'dflt'), hasattr(F(), 'm'), callable(F()), vars(F()).__len__(), F.__dict__['s'].__class__.__name__)
