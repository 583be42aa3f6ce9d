# Statements and expressions that are rarely together.
a = b = c = 1
a, b = b, a + 1
(d, [e, *f]), g = (1, [2, 3, 4]), 5
print(a, b, c, d, e, f, g)
x = 5 if a > 0 else 6 if b else 7
y = not a == 2 and b or c
print(x, y, 1 < 2 < 3 != 4, (1, 2) == (1, 2), [] or 'empty', 0 and 1, None is None, 'a' 'b', -2 ** 2, 2 ** -1, not not 5)
if (n := len('walrus')) > 3: print('long', n)
while (n := n - 1) > 2: pass
else: print('done', n)
for i, (j, k) in enumerate([(1, 2), (3, 4)]): print(i, j, k, end=';')
print()
for _ in []:
    pass
else:
    print('never ran')
print([*range(3), *'ab'], {**{'a': 1}, 'b': 2}, (*[1], 2), {*(1, 1)}, *[9, 8], sep='|')
def f(*args, **kwargs): return args, kwargs
print(f(*[1, 2], 3, *(4,), x=1, **{'y': 2}), f(), (lambda *a, b=2, **k: (a, b, k))(1, c=3))
class Empty: ...
class WithDoc:
    """Doc."""
    x: int = 5
    y: 'str'
    def m(self): "method doc"; return self.x
print(Empty().__class__.__name__, WithDoc.__doc__, WithDoc().m(), WithDoc.m.__doc__, WithDoc.__annotations__.keys() == {'x': 0, 'y': 0}.keys())
del a, b
try: a
except NameError as error: print(error)
finally: print('finally')
assert True, 'unused'
global_list = [1, 2, 3]
global_list[1:2], z = [7, 8], global_list
print(global_list, z is global_list)
matrix = [[1, 2], [3, 4]]
matrix[0][1] += 10
matrix[1] *= 2
print(matrix, matrix[-1][::-1], [row[0] for row in matrix], [x for x in range(20) if x % 2 if x % 3])
t = 1,
print(t, len(t), (yield_ := 3), {1: 'a'}.get(2), 'x' in 'xyz', 3 in {3: 4}, 5 not in [1])
s = 'line one\
 continued'
print(s, """multi
line""", r'raw\n', b'bytes\x00', '\u00e9', "q'q", 'd"d')
print(0b101, 0o17, 0xFF, 1_000, 1e3, .5, 5., 1e-3, 10 // 3, -10 // 3, 10 % -3, 7 / 2, 2 ** 10, 5 & 3, 5 | 3, 5 ^ 3, ~5, 1 << 4, 256 >> 2)
with open_it() if False else type('C', (), {'__enter__': lambda s: 'in', '__exit__': lambda s, *a: None})() as value:
    print(value)
try:
    try: 1 / 0
    finally: print('inner')
except ZeroDivisionError as e: print('outer', e)
else: print('no')
def g():
    x = yield 1
    while x: x = yield x * 2
    return 'end'
it = g()
print(next(it), it.send(5), it.send(6))
try: it.send(0)
except StopIteration as stop: print(stop.value)
print([(lambda n: n * n)(i) for i in range(4)], sorted('cab', key=lambda c: -ord(c)), list(map(lambda a, b: a + b, [1, 2], [3, 4])))
print(f'{x!r:>5}|{x:05}|{"nested" if x else ""}|{x:{x}}', '%s' % x, '{:>{}}'.format('a', 3), 'abc'[1], 'abc'[-1:], 'abcdef'[1:5:2])
pass; print('one'); print('line')
if x:
    if not x: pass
    elif x == 5: print('five')
    else: pass
print(type(1), type('a').__name__, isinstance(True, int), issubclass(bool, int), callable(print), hash('a') == hash('a'), ...  is Ellipsis)
