import hashlib, struct, math, io
for n in (0, 1, 55, 56, 63, 64, 119, 120, 1000):
    d = b"x" * n
    print(n, [hashlib.new(h, d).hexdigest()[:20] for h in ("md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sha3_224", "sha3_256", "sha3_384", "sha3_512")])
h = hashlib.sha1(b"a"); h.update(b"b"); c = h.copy(); c.update(b"c"); print(h.hexdigest(), c.hexdigest(), h.digest_size, h.block_size, h.name, hashlib.md5().hexdigest())
nan = float("nan"); other = float("nan"); print([nan] == [nan], [nan] == [other], nan in [nan], nan in [other], nan == nan, nan is nan, len({nan, nan}), len({nan, other}), (nan,) == (nan,), {nan: 1} == {nan: 1}, {1: nan} == {1: other}, [nan].index(nan), [other].count(nan), float(nan) is nan, math.nan in [math.nan], struct.pack("<d", nan).hex() == struct.pack("<d", other).hex(), nan != other, sorted([3, 1]), str(nan), math.isnan(-nan))
b = io.StringIO(); print("a", 1, file=b); b.write("second\n"); b.writelines(["x", "y\n"]); print(repr(b.getvalue()), b.tell()); b.seek(0); print(b.readline(), list(b), b.read()); b.seek(2); b.write("ZZ"); print(repr(b.getvalue()), repr(b.read(3)), b.tell())
with io.StringIO("l1\nl2\nl3") as f:
    for line in f: print(line.rstrip(), end=";")
    f.seek(0); print(f.readlines())
try: f.read()
except ValueError as e: print(e)
try: io.StringIO().write(5)
except TypeError as e: print(e)
class Ix:
    def __index__(self): return 2
l = list(range(6)); print(l[Ix():], l[:Ix()], l[::Ix()], "abcdef"[Ix():], l[Ix()], (1, 2, 3)[Ix():])
class It:
    def __iter__(self): return 5
for f in (lambda: list(It()), lambda: iter(It()), lambda: [x for x in It()], lambda: sum(It()), lambda: tuple(It()), lambda: dict(It())):
    try: f()
    except TypeError as e: print(e)
def loc(a, b=2, *c, d=4, **e):
    f = [a]
    return locals(), sorted(vars())
print(loc(1), loc(1, 3, 5, d=6, z=7))
def outer():
    x = 1; y = 2
    def inner(): return x, locals()
    return inner()
print(outer())
class C:
    a = 1; names = sorted(n for n in locals() if not n.startswith("__"))
print(C.names, "C" in locals(), locals() is globals())
import sys
try: 1 / 0
except ZeroDivisionError as e:
    print(sys.exc_info()[0].__name__, sys.exc_info()[1] is e)
    def deep(): return sys.exc_info()[0].__name__
    print(deep())
print(sys.exc_info())
print(struct.pack("<3e", 1.5, -2, 65504), struct.unpack("<4e", struct.pack("<4e", 0.1, 1e-7, 6e-8, float("inf"))))
print(float.fromhex("0x1.8p3"), float.fromhex("-0x1p-1074"), float.fromhex("0x1.fffffffffffff8p0"), float.fromhex("inf"), float.fromhex("ff"), [float.fromhex(x.hex()) == x for x in (0.1, 1e300, 5e-324, -2.5, math.pi, 1e-310)])
for bad in ("", "0x", "zz", "0x1p", "1p5000"):
    try: print(float.fromhex(bad))
    except (ValueError, OverflowError) as e: print(type(e).__name__, e)
