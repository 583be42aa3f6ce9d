class A:
    """doc"""
    count = 0
    def __init__(self, x=1): self.x = x; type(self).count += 1
    def hi(self): return 'A.hi'
    @classmethod
    def make(cls, *a): return cls(*a)
    @staticmethod
    def st(v): return v * 2
    @property
    def px(self): return self.x
    @px.setter
    def px(self, v): self.x = v * 10
    @px.deleter
    def px(self): del self.x
    def __eq__(self, o): return isinstance(o, A) and self.x == o.x
    def __hash__(self): return hash(self.x)
    def __repr__(self): return f'{type(self).__name__}({self.x!r})'
    def __lt__(self, o): return self.x < o.x
    def __bool__(self): return self.x != 0
    def __len__(self): return 7
    def __getitem__(self, i):
        if i >= 3: raise IndexError(i)
        return i * self.x
    def __contains__(self, v): return v == 'magic'
    def __call__(self, *a, **k): return a, k
    def __add__(self, o): return A(self.x + (o.x if isinstance(o, A) else o))
    def __radd__(self, o): return A(o + self.x)
    def __iadd__(self, o): self.x += 100; return self
    def __neg__(self): return A(-self.x)
    def __matmul__(self, o): return 'mm'
    def __enter__(self): return self
    def __exit__(self, *e): print('exit', e[0]); return True
class B(A):
    def hi(self): return 'B.' + super().hi()
class C(A):
    def hi(self): return 'C.' + super().hi()
class D(B, C):
    def hi(self): return 'D.' + super().hi()
print(D().hi(), [k.__name__ for k in D.__mro__], D.__bases__, D.__name__, D.__doc__, A.__doc__, D.mro() == list(D.__mro__))
a = A(3); print(a, a.px, A.make(4), a.st(2), A.st(3), a == A(3), a != A(4), a < A(5), a > A(1), bool(A(0)), len(a), list(a), 'magic' in a, 1 in a, a(1, k=2), a + 1, 1 + a, a + a, sum([A(1), A(2)]), -a, a @ 1)
a.px = 2; print(a.x); del a.px; print(hasattr(a, 'x')); a += 1 if False else 0 if hasattr(a, 'x') else 0 if setattr(a, 'x', 1) else 0; print(a)
with A(1) as z: raise ValueError('swallowed')
print({A(1): 'one'}[A(1)], A(1) in [A(1)], sorted([A(3), A(1)]), max(A(1), A(2)))
try: D.mro; class_ = type('E', (A, D), {})
except TypeError as e: print(str(e).splitlines()[0])
E = type('E', (A,), {'hi': lambda self: 'E', 'v': 5}); print(E().hi(), E.v, E, type(E), E.__module__, A.__qualname__, A.hi.__qualname__)
print(isinstance(a, (int, A)), issubclass(D, A), issubclass(bool, int), type(a) is A, type(5), type(type), isinstance(A, type), callable(a), callable(5))
class Slots:
    __slots__ = ('a', 'b')
    def __init__(self): self.a = 1
s = Slots(); print(s.a)
for f in (lambda: s.b, lambda: setattr(s, 'c', 1), lambda: s.__dict__, lambda: a.nope, lambda: A.nope, lambda: delattr(a, 'q'), lambda: setattr(a, 'hi', 1) or a.hi, lambda: D.hi(), lambda: A(1, 2, 3), lambda: A(y=1), lambda: A.hi(1), lambda: a.hi(1)):
    try: print(f())
    except Exception as e: print(type(e).__name__, e)
class G:
    def __getattr__(self, n):
        if n.startswith('x'): return n.upper()
        raise AttributeError(f'no {n}')
    def __setattr__(self, n, v): print('set', n, v); object.__setattr__(self, n, v)
    def __delattr__(self, n): print('del', n); super().__delattr__(n)
g = G(); g.a = 1; print(g.a, g.xy, getattr(g, 'q', 'dflt'), hasattr(g, 'q'), hasattr(g, 'xx')); del g.a
try: g.q
except AttributeError as e: print(e)
class GA:
    def __getattribute__(self, n): return ('got', n)
print(GA().anything)
class Desc:
    def __set_name__(self, o, n): self.n = '_' + n; print('set_name', o.__name__, n)
    def __get__(self, i, o): return self if i is None else getattr(i, self.n, 'unset')
    def __set__(self, i, v):
        if v < 0: raise ValueError('neg')
        setattr(i, self.n, v)
class H:
    v = Desc()
h = H(); print(h.v); h.v = 5; print(h.v, vars(h), type(H.v).__name__)
try: h.v = -1
except ValueError as e: print(e)
class Meta(type):
    def __new__(m, n, b, ns, **k): c = super().__new__(m, n, b, ns); c.tag = k.get('tag', n.lower()); return c
    def __init__(c, n, b, ns, **k): super().__init__(n, b, ns)
    def __call__(c, *a): o = super().__call__(*a); o.made = True; return o
    def __repr__(c): return f'<M {c.__name__}>'
    def __len__(c): return 42
    def __iter__(c): return iter('abc')
class M(metaclass=Meta, tag='T'):
    def __init__(self, v): self.v = v
print(M, M.tag, M(1).made, len(M), list(M), type(M))
class Sub:
    subs = []
    def __init_subclass__(cls, /, name=None, **k): super().__init_subclass__(**k); Sub.subs.append((cls.__name__, name))
class S1(Sub, name='one'): pass
class S2(S1): pass
print(Sub.subs)
class Box:
    def __class_getitem__(cls, item): return f'Box[{item.__name__}]'
print(Box[int])
class Cmp:
    def __init__(s, v): s.v = v
    def __eq__(s, o): return NotImplemented
print(Cmp(1) == Cmp(1), Cmp(1) != 3)
try: Cmp(1) < Cmp(2)
except TypeError as e: print(e)
try: Cmp(1) + 1
except TypeError as e: print(e)
try: {Cmp(1)}
except TypeError as e: print(e)
class NI:
    def __add__(s, o): return NotImplemented
class R:
    def __radd__(s, o): return 'radd'
    def __rmul__(s, o): return 'rmul'
    def __rpow__(s, o): return 'rpow'
    def __rsub__(s, o): return 'rsub'
print(NI() + R(), 3 * R(), 2 ** R(), [] - R())
class It:
    def __init__(s, n): s.n = n
    def __iter__(s): return s
    def __next__(s):
        if s.n <= 0: raise StopIteration
        s.n -= 1; return s.n
    def __reversed__(s): return 'rev'
    def __length_hint__(s): return 3
print(list(It(3)), tuple(It(2)), sum(It(4)), max(It(5)), 2 in It(3), reversed(It(3)), dict(enumerate(It(2))), [*It(2), *It(1)], ' '.join(map(str, It(3))))
class Idx:
    def __index__(s): return 2
    def __int__(s): return 7
    def __float__(s): return 1.5
    def __complex__(s): return 0
    def __round__(s, n=None): return ('round', n)
    def __trunc__(s): return 1
    def __floor__(s): return 'fl'
    def __abs__(s): return 'abs'
    def __divmod__(s, o): return 'dm'
    def __hash__(s): return 1
    def __bytes__(s): return b'by'
    def __dir__(s): return ['z', 'a']
    def __sizeof__(s): return 1
i = Idx(); import math; print([1, 2, 3][i], int(i), float(i), round(i), round(i, 2), math.floor(i), abs(i), divmod(i, 1), bytes(i), range(i), 'ab' * i, hex(i), dir(i), hash(i))
class Priv:
    def __init__(s): s.__x = 1; s._y = 2
    def get(s): return s.__x
p = Priv(); print(p.get(), p.__dict__, p._Priv__x)
class Outer:
    class Inner:
        def f(self): return 'in'
    z = [i for i in range(3)]
print(Outer.Inner().f(), Outer.Inner.__qualname__, Outer.z)
def mk():
    class Local: pass
    return Local
print(mk().__qualname__, mk().__name__, mk)  if False else print(mk().__qualname__)
class Copy:
    def __copy__(s): return 'copied'
    def __deepcopy__(s, memo): return 'deep'
import copy; print(copy.copy(Copy()), copy.deepcopy(Copy()), copy.deepcopy([1, [2]]), copy.copy({'a': []}))
class Del:
    def __delitem__(s, k): print('delitem', k)
    def __setitem__(s, k, v): print('setitem', k, v)
    def __missing__(s, k): return k
x = Del(); x[1, 2] = 3; del x['k']; x[1:2] = 5; x[...] = 1
