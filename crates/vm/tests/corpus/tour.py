class A:
    x = 1
    def __init__(self, v): self.v = v
    def __repr__(self): return f"A({self.v!r})"
    def __eq__(self, o): return isinstance(o, A) and self.v == o.v
    def __hash__(self): return hash(self.v)
    def __add__(self, o): return A(self.v + o.v)
    @property
    def double(self): return self.v * 2
    @classmethod
    def make(cls): return cls(9)
    @staticmethod
    def s(): return "s"
class B(A):
    def __init__(self, v):
        super().__init__(v)
        self.w = v
print(A(3), B(4).w, [A(1), A(2)], A(1)+A(2), A(5).double, A.make(), B.make(), A.s())
d = {A(1): 'one'}
print(d[A(1)], A(1) in d, A(2) in d, A(1) == A(1), A(1) != A(2))
try:
    1/0
except ZeroDivisionError as e:
    print("caught", e, type(e).__name__)
finally:
    print("fin")
def g():
    try:
        x = yield 1
        print("got", x)
        yield 2
    finally:
        print("closing")
it = g()
print(next(it), it.send("hello"))
it.close()
print(sorted([3,1,2], key=lambda x: -x), sorted("hello"), max([1,5,2]), min(3,4), sum(x*x for x in range(10)))
print([x for x in range(5) if x % 2], {x: x*x for x in range(3)}, {1,2,3}, list(map(str, range(3))), list(zip("ab", [1,2])))
def f(a, b=2, *args, c=3, **kw): return (a, b, args, c, kw)
print(f(1), f(1, 2, 3, 4, c=5, z=6), f(*[1,2,3], **{"c": 9}))
a, *b, c = range(6)
print(a, b, c)
print("%5.2f|%-5s|%05d|%x" % (3.14159, "ab", 42, 255), "{:>8}|{:<5}|{:^7}|{x}".format(1, "a", "mid", x=5))
print(f"{3.14159:.2f} {1000000:,} {255:#x} {'hi':>5} {1e20} {0.1+0.2} {1e-7}")
with_x = []
class CM:
    def __enter__(self): with_x.append(1); return self
    def __exit__(self, *a): with_x.append(a[0].__name__ if a[0] else None); return True
with CM() as c:
    raise ValueError("x")
print(with_x)
match [1, 2, 3]:
    case [a, *rest]: print("seq", a, rest)
match {"k": 5}:
    case {"k": v}: print("map", v)
def outer():
    n = 0
    def inner():
        nonlocal n
        n += 1
        return n
    inner(); inner()
    return n
print(outer(), 2**100, 10**30 // 7, -7 // 2, -7 % 3, 7.5 // 2, divmod(-7, 2))
for i in range(3):
    if i == 5: break
else:
    print("else")
print(str(2**200), int("12345678901234567890") * 3, hex(2**70), abs(-2**65))
i = 0
while True:
    i += 1
    try:
        if i == 2: continue
        if i > 4: break
    finally:
        print("f", i)
def t():
    try:
        return 1
    finally:
        print("cleanup")
print(t())
print(isinstance(True, int), type(1), type("a"), [].__class__, (1).bit_length())
raise KeyError("boom")
