x = "global"
def outer():
    x = "outer"
    def inner():
        nonlocal x
        x = "changed"
        def innermost():
            global x
            return x
        return innermost()
    r = inner()
    return x, r
print(outer(), x)
fs = [lambda: i for i in range(3)]
print([f() for f in fs], [f() for f in [lambda i=i: i for i in range(3)]])
def make():
    total = 0
    def add(n):
        nonlocal total
        total += n
        return total
    def get(): return total
    return add, get
add, get = make(); add(5); add(6); print(get())
class Cfg:
    a = 1
    b = [a + i for i in [1, 2]] if False else a + 1
    def m(self): return self.a, Cfg.b
    class Inner:
        z = 5
print(Cfg().m(), Cfg.Inner.z, Cfg.Inner.__qualname__)
def unbound():
    try:
        print(later)
    except UnboundLocalError as error: print(type(error).__name__)
    later = 1
unbound()
def defaults(a, b=[], *, c, d=4, **rest):
    b.append(a); return a, b, c, d, rest
print(defaults(1, c=3), defaults(2, c=5, e=6))
def posonly(a, b, /, c): return a, b, c
print(posonly(1, 2, c=3))
for call in (lambda: posonly(1, b=2, c=3), lambda: defaults(1), lambda: posonly(1), lambda: posonly(1, 2, 3, 4), lambda: defaults(1, c=1, a=2)):
    try: call()
    except TypeError as error: print("TypeError")
if (n := len("walrus")) > 3: print(n)
print([y := 1, y + 1], [last := v for v in range(3)], last)
def rec(n): return 1 if n == 0 else n * rec(n - 1)
print(rec(20), (lambda *a, **k: (a, k))(1, 2, z=3))
del n
try: n
except NameError as error: print(error)
def star(*args): return args
print(star(*"ab", *[1], **{}), [*{"k": 1}], {**{"a": 1}, **{"b": 2}})
i = 10
[i for i in range(3)]
print(i)
def gen(): 
    yield from (z for z in range(2))
print(list(gen()), type(gen()).__name__, __name__)
assert True
a = b = c = []
a.append(1); print(b, a is c, a is not None)
print(1 if [] else 2, [] or "default", 0 and 1, not [], 1 < 2 < 3 > 0, (1, 2) == (1, 2) != (3,))
while False: pass
else: print("while else")
