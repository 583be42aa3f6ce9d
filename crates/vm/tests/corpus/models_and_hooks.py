# Models, metaclasses, hooks, and what special methods must answer.
import functools, copy
class Singleton(type):
    _inst = {}
    def __call__(cls, *a, **k):
        if cls not in cls._inst: cls._inst[cls] = super().__call__(*a, **k)
        return cls._inst[cls]
class Conf(metaclass=Singleton):
    def __init__(self, v=0): self.v = v
print(Conf(1) is Conf(2), Conf().v, type(Conf).__name__, isinstance(Conf, Singleton))
class Field:
    def __init__(self, typ, default=None): self.typ, self.default = typ, default
    def __set_name__(self, owner, name): self.name = "_" + name; owner._fields = getattr(owner, "_fields", ()) + (name,)
    def __get__(self, obj, owner=None): return self if obj is None else getattr(obj, self.name, self.default)
    def __set__(self, obj, v):
        if not isinstance(v, self.typ): raise TypeError(f"{self.name[1:]} must be {self.typ.__name__}, got {type(v).__name__}")
        setattr(obj, self.name, v)
    def __delete__(self, obj): delattr(obj, self.name)
class Model:
    registry = []
    def __init_subclass__(cls, table=None, **kw): super().__init_subclass__(**kw); cls.table = table or cls.__name__.lower() + "s"; Model.registry.append(cls)
    def __init__(self, **k):
        for n, v in k.items(): setattr(self, n, v)
    def __repr__(self): return f"<{type(self).__qualname__} {' '.join(f'{f}={getattr(self, f)!r}' for f in self._fields)}>"
class User(Model): name = Field(str); age = Field(int, 18)
class Post(Model, table="articles"): title = Field(str, "untitled")
print(User(name="a"), Post(), [m.table for m in Model.registry], User.name.typ, User._fields)
u = User(name="z", age=3); del u.age; print(u.age, u.__dict__)
try: User(name=5)
except TypeError as e: print(e)
def add_repr(cls):
    cls.__repr__ = lambda self: f"{cls.__name__}({', '.join(f'{k}={v!r}' for k, v in vars(self).items())})"; return cls
def count_calls(f):
    @functools.wraps(f)
    def w(*a, **k): w.calls += 1; return f(*a, **k)
    w.calls = 0; return w
def repeat(n):
    def d(f):
        @functools.wraps(f)
        def w(*a, **k): return [f(*a, **k) for _ in range(n)]
        return w
    return d
@add_repr
class Pt:
    def __init__(self, x, y): self.x, self.y = x, y
    @repeat(2)
    @count_calls
    def go(self, d): "go doc"; self.x += d; return self.x
p = Pt(1, 2); print(p, p.go(5), p, Pt.go.__name__, Pt.go.__doc__, Pt.go.__wrapped__.calls)
class A:
    def f(self): return ["A"]
    @classmethod
    def make(cls): return cls.__name__
class B(A):
    def f(self): return ["B"] + super().f()
class C(A):
    def f(self): return ["C"] + super().f()
class D(B, C):
    def f(self): return ["D"] + super().f()
    @classmethod
    def make(cls): return "D:" + super().make()
print(D().f(), [k.__name__ for k in D.__mro__], D.make(), issubclass(D, A), super(B, D()).f(), D.__bases__, D.mro()[1])
try:
    class X(A, B): pass
except TypeError as e: print(str(e).split("\n")[0])
class Lazy:
    def __getattr__(self, n):
        if n.startswith("get_"): return lambda: n[4:]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {n!r}")
    def __setattr__(self, n, v): object.__setattr__(self, n, v * 2 if isinstance(v, int) else v)
    def __delattr__(self, n): print("del", n); super().__delattr__(n)
l = Lazy(); l.a = 5; print(l.a, l.get_foo(), hasattr(l, "zz"), getattr(l, "q", "dflt")); del l.a
try: l.nope
except AttributeError as e: print(e)
class GA:
    x = 1
    def __getattribute__(self, n):
        if n == "secret": raise AttributeError("hidden")
        return super().__getattribute__(n)
print(GA().x, hasattr(GA(), "secret"))
class Temp:
    def __init__(self, c): self._c = c
    @property
    def f(self): "Fahrenheit"; return self._c * 9 / 5 + 32
    @f.setter
    def f(self, v): self._c = (v - 32) * 5 / 9
    @f.deleter
    def f(self): print("deleted"); self._c = 0
    c = property(lambda s: s._c, doc="celsius")
    @staticmethod
    def abs0(): return -273.15
t = Temp(100); print(t.f, Temp.f.__doc__, Temp.c.__doc__); t.f = 32; print(t.c, t.abs0(), Temp.abs0()); del t.f; print(t.c)
try: t.c = 5
except AttributeError as e: print(e)
class Slots:
    __slots__ = ["a", "__weak"]
    def __init__(self): self.a = 1
class SlotSub(Slots): pass
s = SlotSub(); s.zz = 5; print(s.a, s.zz)
try: Slots().b = 1
except AttributeError as e: print(e)
class Priv:
    __x = 5
    def get(self): return self.__x
    def __m(self): return "m"
print(Priv().get(), Priv._Priv__x, Priv()._Priv__m(), [n for n in vars(Priv) if "Priv" in n])
try: Priv.__x
except AttributeError as e: print(e)
Dyn = type("Dyn", (A,), {"z": 1, "g": lambda self: self.z}); print(Dyn().g(), Dyn().f(), Dyn.__name__, Dyn)
class Outer:
    class Inner:
        def who(self): return type(self).__qualname__
    def mk(self): return self.Inner()
print(Outer().mk().who(), Outer.Inner.__name__, Outer.mk.__qualname__)
class CopyMe:
    def __init__(self, v): self.v = v; self.l = [v]
    def __copy__(self): n = type(self)(self.v); n.l = self.l; return n
    def __deepcopy__(self, memo): return type(self)(copy.deepcopy(self.v, memo))
c = CopyMe([1]); c1, c2 = copy.copy(c), copy.deepcopy(c); print(c1.v is c.v, c2.v is c.v, c2.v == c.v, c1.l is c.l)
class N:
    def __init__(self): self.kids = []; self.me = self
n = copy.deepcopy(N()); print(n.me is n)
class Cmp:
    def __init__(self, v): self.v = v
    def __eq__(self, o): return isinstance(o, Cmp) and self.v == o.v
print(Cmp(1) == Cmp(1), Cmp(1) != Cmp(2), Cmp.__hash__)
try: {Cmp(1)}
except TypeError as e: print(e)
class Lenish:
    def __init__(self, n): self.n = n
    def __len__(self): return self.n
print(bool(Lenish(0)), bool(Lenish(2)))
for bad in (-1, "a", 2.0):
    try: len(Lenish(bad))
    except (ValueError, TypeError) as e: print(type(e).__name__, e)
class R:
    def __repr__(self): return 5
    def __str__(self): return None
for f in (repr, str):
    try: f(R())
    except TypeError as e: print(e)
class H:
    def __hash__(self): return "x"
try: hash(H())
except TypeError as e: print(e)
class It:
    def __iter__(self): return 5
try: list(It())
except TypeError as e: print(e)
class New:
    def __new__(cls, *a): print("new", a); return super().__new__(cls)
    def __init__(self, *a): print("init", a)
New(1, 2); print(isinstance(New.__new__(New), New))
class Init:
    def __init__(self): return 5
try: Init()
except TypeError as e: print(e)
class NoInit: pass
try: NoInit(5)
except TypeError as e: print(e)
print(A().f.__name__, A.make.__func__.__name__, A().f.__self__.__class__.__name__, A.f is A.f, A().f == A().f)
print(callable(A), callable(A()), type(A()) is A, A.__class__, A.__dict__["make"].__class__.__name__, A.__doc__, A.__module__, A.__subclasses__() if 0 else "")
print(str(A), repr(A), str(type), f"{A}", [A, int], {A: 1}[A], A == A, A != B, hash(A) == hash(A))
