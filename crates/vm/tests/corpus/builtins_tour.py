# misc builtins & protocol corner cases
print(bool([]), bool([0]), not None, 1 and 2, 0 or 'x', None or [] or 'z', 1 if [] else 2, (1,) + (2,), 3 in (1, 3), 'b' not in 'abc')
print(isinstance(True, int), type(1.0).__name__, type(None).__name__, type(print).__name__, type(lambda: 0).__name__, type(iter([])).__name__ if False else '', type(range(1)).__name__, type({}.keys()).__name__, type(type).__name__, type(...).__name__, type(NotImplemented).__name__)
print(abs(-5), divmod(17, 5), pow(2, 10, 1000), round(3.14159, 2), sum([1, 2], 10), min(3, 1, 2), max([1, 5], default=0), len('abc'), ord('a'), chr(97), hex(255), bin(5), oct(8), callable(len), repr('a'), ascii('ñ'), format(3.14159, '.2f'), hash('a') == hash('a'))
print(list(map(int, '123')), list(filter(str.isdigit, 'a1b2')), list(zip('abc', range(3))), sorted([3, 1, 2], reverse=True), list(reversed([1, 2])), all([True, 1]), any([0, '']), enumerate is not None, list(range(10, 0, -3)))
print(int.__name__, str.join('-', 'abc'), list.append is not None, dict.get({'a': 1}, 'a'), str.upper('abc'), len.__name__, int.from_bytes(b'\x01', 'big'), bytes.fromhex('00ff'), dict.fromkeys([1]))
x = [1, 2, 3]; y = x; y.append(4); print(x is y, x, x[:] == x, x[:] is x)
a = b = []; a.append(1); print(b); a, b = 1, 2; a, b = b, a; print(a, b); x = y = z = 0; x += 1; print(x, y, z)
i = 5; i += 1; i -= 2; i *= 3; i //= 2; i **= 2; i %= 7; i <<= 3; i |= 1; i &= 0xff; i ^= 3; i >>= 1; print(i); f = 7; f /= 2; print(f)
for i in range(3):
    for j in range(3):
        if j == 1: break
        if i == 1: continue
        print(i, j)
    else: print('never')
else: print('done')
n = 3
while n: n -= 1; print(n, end=' ')
else: print('end')
while True:
    n += 1
    if n > 2: break
print(n, [i for i in range(5) if i % 2 == 0 if i > 0], [(x, y) for x in 'ab' for y in (1, 2)], {**{'a': 1}, **{'b': 2}}, [*range(2), *'ab'], (*[1], 2), {*[1, 1]})
def f(*args, **kw): return args, kw
print(f(1, *[2, 3], a=4, **{'b': 5}), f(), f(*'ab'), f(**dict(x=1)))
print((lambda x: x * 2)(3), (lambda *a: sum(a))(1, 2), sorted('hello', key=lambda c: -ord(c)))
class A: pass
a = A(); a.x = 1; setattr(a, 'y', 2); print(a.__dict__, getattr(a, 'z', 'none'), hasattr(a, 'x'), vars(a), a.__class__.__name__, A.__name__, isinstance(a, A)); delattr(a, 'x'); print(a.__dict__)
print(1 < 2 < 3, 1 < 3 < 2, 1 == 1.0 == True, not 1 == 2, 5 // 2, -5 // 2, 5 % -3, -5 % 3, 2 ** 3 ** 2, (2 ** 3) ** 2, 7 / 2, 1e3, 10 ** -2, 0.1 + 0.2, 1 / 3)
print('abc' 'def', 'a' * 3, 'abc'[1], 'abc'[-1], 'abcdef'[1:4], 'abcdef'[::2], 'abcdef'[::-1], 'a,b'.split(','), 'A'.lower(), f'{1 + 1}', 'x' in 'xyz', len('héllo'))
del a, b
try: a
except NameError as e: print(e)
print(__name__, [k for k in list(globals()) if k == 'n'], type(globals()).__name__)
def outer():
    x = 1
    def inner(): return locals() if False else x
    return inner()
print(outer(), (yield_ := 5), yield_)
import sys; print(sys.version_info >= (3, 8), sys.maxsize, sys.byteorder, sys.version_info[:2], sys.version_info.major, sys.getrecursionlimit() > 10, sys.platform if False else '')
print(*sorted({'b': 2, 'a': 1}.items()), sep=';', end='.\n'); print('a', 'b', sep=''); print('x', end=''); print(); print(print('p') is None); print(1, 2.0, 'three', [4], None, sep=' | ')
assert True; assert 1, 'msg'
global_var = 10
def g():
    global global_var
    global_var += 1
g(); g(); print(global_var)
print(list({1: 'a'}.items())[0], next(iter({5: 6})), dict(a=1) | dict(b=2), {'x': 1}.__contains__('x'), [1, 2, 3].__len__(), (5).__add__(3), 'a'.__eq__('a'), [1] .__class__, (1).__class__.__name__)
print(str(1.0), str(1e10), str(1.5e-5), repr(0.1), str(100000000000000000000.0), 1e5, 123456.789e3, float('1e5'), int(1e5), 3.0 == 3, 5.0 // 2, 5.5 % 2, -0.0, 0.0 == -0.0)
print(b'abc'[0], b'abc'[1:], bytes([1, 2]), bytearray(b'x') + b'y', b'a' + b'b', b'\n\t\\', list(b'ab'), b'x' * 3, 'é'.encode(), b'abc'.decode(), b'abc' == 'abc')
