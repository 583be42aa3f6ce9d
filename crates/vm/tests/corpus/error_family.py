# Errors with a family, managers that fail, classes with hooks.
import functools
class AppError(Exception):
    default = "app failed"; code = 500
    def __init__(self, message=None, **ctx):
        super().__init__(message or self.default); self.ctx = ctx
    def to_dict(self): return {"type": type(self).__name__, "msg": str(self), "code": self.code, **self.ctx}
class NotFound(AppError): default = "not found"; code = 404
class Invalid(AppError, ValueError):
    code = 422
    def __init__(self, field, why): super().__init__(f"{field}: {why}", field=field); self.field = field
    def __str__(self): return f"<{super().__str__()}>"
for make in (lambda: AppError(), lambda: NotFound(id=3), lambda: Invalid("age", "too low"), lambda: AppError("x", a=1)):
    try: raise make()
    except NotFound as e: print("NF", e.to_dict())
    except ValueError as e: print("VE", e, e.to_dict(), repr(e), e.args)
    except AppError as e: print("AE", e.to_dict(), repr(e))
def chain():
    try:
        try: int("zz")
        except ValueError as e: raise KeyError("lookup") from e
    except KeyError as e: raise AppError("top") from e
try: chain()
except AppError as e:
    seen = []; cur = e
    while cur: seen.append(f"{type(cur).__name__}({cur})"); cur = cur.__cause__ or cur.__context__
    print(" <- ".join(seen))
class Res:
    log = []
    def __init__(self, n, fail=None): self.n, self.fail = n, fail
    def __enter__(self):
        if self.fail == "enter": raise OSError("enter failed")
        Res.log.append("+" + self.n); return self
    def __exit__(self, t, v, tb):
        Res.log.append(f"-{self.n}:{t.__name__ if t else None}")
        if self.fail == "exit": raise RuntimeError("exit failed")
        return self.fail == "swallow"
for fails in ((None, None), (None, "enter"), ("swallow", None), (None, "exit"), ("exit", "swallow")):
    Res.log.clear()
    try:
        with Res("a", fails[0]) as a, Res("b", fails[1]) as b: Res.log.append("body"); raise LookupError("boom")
        Res.log.append("after")
    except Exception as e: Res.log.append(f"{type(e).__name__}:{e} ctx={e.__context__!r}")
    print(Res.log)
def f(x):
    try:
        if x: raise ValueError(x)
        return "ret"
    except ValueError: return "exc"
    else: return "else"
    finally:
        if x == 2: return "fin"
print(f(0), f(1), f(2))
def g():
    for i in range(3):
        try: yield i
        finally: print("clean", i)
for v in g(): print(v)
class Animal:
    count = 0; __slots__ = ("name", "_age")
    def __new__(cls, *a, **k): Animal.count += 1; return super().__new__(cls)
    def __init__(self, name, age=1): self.name = name; self._age = age
    def speak(self): raise NotImplementedError(f"{type(self).__name__}.speak")
    def __str__(self): return f"{self.name} says {self.speak()}"
    def __repr__(self): return f"{self.__class__.__name__}({self.name!r})"
    def __eq__(self, o): return type(self) is type(o) and self.name == o.name
    def __hash__(self): return hash(self.name)
    def __lt__(self, o): return self.name < o.name
    age = property(lambda s: s._age, lambda s, v: setattr(s, "_age", max(0, v)))
class Dog(Animal):
    __slots__ = ("breed",)
    def speak(self): return "woof"
class Puppy(Dog):
    def speak(self): return super().speak().upper() + "!"
class Fish(Animal): pass
zoo = [Puppy("rex"), Dog("ace"), Fish("nemo")]
for z in zoo:
    try: print(z)
    except NotImplementedError as e: print("NIE", e)
zoo[0].age = -5; print(zoo[0].age, Animal.count, sorted(zoo), Dog("a") == Dog("a"), Dog("a") == Puppy("a"), len({Dog("a"), Dog("a")}), isinstance(zoo[0], Dog), issubclass(Fish, Animal), Puppy.__mro__, Puppy.mro()[0].__name__, [c.__name__ for c in Puppy.__mro__], Dog.speak is Puppy.speak, zoo[0].speak.__name__, type(zoo[0]).__bases__)
try: zoo[1].color = "red"
except AttributeError as e: print(e)
print(hasattr(zoo[1], "breed"), getattr(zoo[1], "breed", "mutt"), callable(zoo[0].speak), zoo[0].__class__.__name__)
class Meta(type):
    registry = {}
    def __new__(mcls, name, bases, ns, **kw):
        cls = super().__new__(mcls, name, bases, {k: v for k, v in ns.items() if not k.startswith("tmp_")})
        if bases: mcls.registry[kw.get("key", name.lower())] = cls
        return cls
    def __init__(cls, name, bases, ns, **kw): super().__init__(name, bases, ns)
    def __iter__(cls): return iter(cls.registry)
    def __contains__(cls, k): return k in cls.registry
    def __repr__(cls): return f"<Meta {cls.__name__}>"
    @property
    def size(cls): return len(cls.registry)
    def __getattr__(cls, n): return f"dyn_{n}"
class Plugin(metaclass=Meta): tmp_x = 1
class A(Plugin): pass
class B(Plugin, key="bee"): pass
print(list(Plugin), "a" in Plugin, Plugin, A, Plugin.size, A.whatever, "tmp_x" in vars(Plugin), Meta.registry["bee"] is B, type(A), isinstance(A, Meta))
class Prop:
    def __init__(self): self._v = 0; self.calls = []
    def _get(self): self.calls.append("get"); return self._v
    def _set(self, v): self.calls.append(("set", v)); self._v = v
    def _del(self): self.calls.append("del")
    v = property(_get, _set, _del, "doc of v")
p = Prop(); p.v = 3; p.v += 2; del p.v; print(p.v, p.calls, Prop.v.__doc__, Prop.v.fget.__name__)
class Ordered:
    def __init__(self, *v): self.v = v
    def __getitem__(self, i): return self.v[i]
    def __len__(self): return len(self.v)
o = Ordered(3, 1, 2); print(list(o), sorted(o), 3 in o, list(reversed(o)), max(o), o[-1], o[0:2], [*o], tuple(o), *o, sum(o), dict(enumerate(o)), list(zip(o, o)), bool(Ordered()))
a, *b = o; print(a, b)
class Cl:
    def __call__(self, *a, **k): return a, k
    def __getattr__(self, n): return n * 2
    def __contains__(self, x): return x == 5
    def __index__(self): return 2
    def __bool__(self): return False
    def __bytes__(self): return b"by"
    def __ceil__(self): return 1
    def __length_hint__(self): return 3
c = Cl(); print(c(1, k=2), c.ab, 5 in c, 6 not in c, [1, 2, 3][c], not c, bytes(c), "x" if c else "y", list(range(5))[c:], bin(c))
