def counter():
    n = 0
    def inc(by=1):
        nonlocal n
        n += by
        return n
    def get(): return n
    return inc, get
i, g = counter(); i(); i(5); print(g())
fs = [lambda: k for k in range(3)]; print([f() for f in fs]); fs = [lambda k=k: k for k in range(3)]; print([f() for f in fs])
x = 'global'
def f():
    x = 'local'
    def h():
        global x
        x = 'changed'
        return x
    return h(), x
print(f(), x)
def u():
    try: print(y)
    except UnboundLocalError as e: print(e)
    y = 1
    del y
    try: y
    except UnboundLocalError as e: print(e)
u()
def v():
    def inner(): return z
    try: inner()
    except NameError as e: print(type(e).__name__, e)
    z = 1
v()
try: undefined_name
except NameError as e: print(e)
def args(a, b=2, /, c=3, *rest, d, e=5, **kw): return a, b, c, rest, d, e, kw
print(args(1, d=4), args(1, 2, 3, 4, 5, d=6, z=7), args(*[1, 2], **{'d': 4, 'c': 9}))
for call in (lambda: args(), lambda: args(1), lambda: args(a=1, d=2), lambda: args(1, d=2, d2=3), lambda: args(1, 2, 3, c=4, d=1), lambda: (lambda a, b: 0)(1), lambda: (lambda a, b: 0)(1, 2, 3), lambda: (lambda: 0)(1), lambda: (lambda *, k: 0)(), lambda: (lambda a: 0)(1, a=2), lambda: (lambda a: 0)(b=2), lambda: (lambda a, b, c: 0)(), lambda: args(**{1: 2})):
    try: print(call())
    except TypeError as e: print(e)
def deflt(a, L=[]): L.append(a); return L
print(deflt(1), deflt(2), deflt.__defaults__, deflt.__name__, (lambda: 0).__name__, deflt.__code__.co_varnames if False else '')
import functools
def deco(n):
    def wrap(fn):
        @functools.wraps(fn)
        def inner(*a, **k): return [fn(*a, **k)] * n
        return inner
    return wrap
@deco(2)
@deco(1)
def hello(who: str = 'w') -> str:
    "docs"
    return 'hi ' + who
print(hello(), hello('x'), hello.__name__, hello.__doc__, hello.__wrapped__.__name__, hello.__annotations__ if False else '')
class Memo:
    def __init__(self, f): self.f = f; self.c = {}
    def __call__(self, n):
        if n not in self.c: self.c[n] = self.f(n)
        return self.c[n]
@Memo
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
print(fib(60))
@functools.lru_cache(maxsize=None)
def fb(n): return n if n < 2 else fb(n - 1) + fb(n - 2)
print(fb(50), fb.cache_info()); fb.cache_clear(); print(fb.cache_info())
@functools.lru_cache(maxsize=2)
def sq(n): print('calc', n); return n * n
sq(1); sq(2); sq(1); sq(3); sq(2); print(sq.cache_info())
@functools.cache
def one(): return object
print(one() is one())
print(functools.reduce(lambda a, b: a * b, [1, 2, 3], 10), functools.partial(int, base=2)('101'), functools.reduce(lambda a, b: a + b, 'abc'))
p = functools.partial(args, 1, d=4); print(p(2), p.args, p.keywords, p.func is args)
@functools.total_ordering
class T:
    def __init__(s, v): s.v = v
    def __eq__(s, o): return s.v == o.v
    def __lt__(s, o): return s.v < o.v
print(T(1) <= T(1), T(2) > T(1), T(1) >= T(2))
print(sorted(['b', 'A', 'c'], key=functools.cmp_to_key(lambda a, b: (a.lower() > b.lower()) - (a.lower() < b.lower()))))
@functools.singledispatch
def sd(x): return 'obj'
@sd.register
def _(x: int): return 'int'
@sd.register(str)
def _(x): return 'str'
@sd.register(list)
def _(x): return 'list'
print(sd(1), sd('a'), sd(1.5), sd([]), sd(True))
class CP:
    @functools.cached_property
    def v(self): print('compute'); return 42
c = CP(); print(c.v, c.v)
if (n := len('abc')) > 2: print(n)
print([y := 5, y ** 2], [last := i for i in range(3)], last)
comp = [[i * j for j in range(i)] for i in range(4) if i % 2 or i == 0]; print(comp, {i for i in 'aab'} == {'a', 'b'})
def gl():
    global newg
    newg = 1
gl(); print(newg)
print((lambda *a, **k: (a, k))(1, *[2], x=3, **{'y': 4}))
def kwonly(*, a, b=1): return a + b
print(kwonly(a=1), kwonly(**{'a': 2, 'b': 3}))
def ann(a: 'int', *b: str, **c: float) -> None: pass
print(list(ann.__annotations__))
print(max((lambda x: x)(i) for i in range(5)), (lambda x, y=2: x + y)(1))
def outer_():
    a = 1
    class K:
        a = 2
        def m(self): return a
        lst = [a for _ in range(1)]
    return K().m(), K.lst, K.a
print(outer_())
def loop():
    for i in range(3): pass
    return i
print(loop())
def rec(n): return 1 if n == 0 else n * rec(n - 1)
print(rec(30))
try:
    def inf(n): return inf(n + 1)
    inf(0)
except RecursionError as e: print(type(e).__name__)
