def g():
    try:
        x = yield 1
        print('got', x)
        while True:
            try:
                x = yield x
                print('recv', x)
            except ValueError as e:
                print('caught', e)
                x = 'after'
    finally:
        print('fin')
it = g(); print(next(it), it.send('a'), it.send('b'), it.throw(ValueError('v')), it.send(3)); it.close(); print(list(it))
try: next(it)
except StopIteration as e: print('stop', e.value)
def h():
    r = yield from sub()
    print('r', r)
    yield from [7, 8]
    return 'done'
def sub():
    a = yield 'first'
    print('sub got', a)
    return 'ret'
i = h(); print(next(i)); print(i.send('X')); print(next(i))
try: next(i)
except StopIteration as e: print(repr(e), e.value, e.args)
def bad():
    yield 1
    raise StopIteration
try: list(bad())
except RuntimeError as e: print(type(e).__name__, e, repr(e.__cause__))
def noclose():
    try: yield 1
    except GeneratorExit: yield 2
n = noclose(); next(n)
try: n.close()
except RuntimeError as e: print(e)
j = g()
try: j.send('x')
except TypeError as e: print(e)
k = g(); 
try: k.throw(KeyError('early'))
except KeyError as e: print('ke', e)
print(k.gi_frame if False else 'x')
def rec(n):
    if n: yield n; yield from rec(n - 1)
print(list(rec(4)), sum(x for x in rec(3)), [*rec(2)], dict((a, a) for a in rec(2)), tuple(rec(1)))
def inf():
    i = 0
    while True: yield i; i += 1
from itertools import islice, takewhile, count, chain
print(list(islice(inf(), 3)), list(takewhile(lambda x: x < 4, inf())), next(islice(inf(), 5, None)))
def self_running():
    try: next(me)
    except ValueError as e: print(e)
    yield 1
me = self_running(); next(me)
ge = (x * y for x in range(3) for y in range(2) if x != y); print(next(ge), list(ge), type(ge).__name__)
def two():
    yield
    return 5
def outer():
    v = yield from two(); print('v', v)
for _ in outer(): print(_)
class Ctx:
    def __enter__(s): print('in'); return s
    def __exit__(s, *a): print('out', a[0].__name__ if a[0] else None)
def w():
    with Ctx():
        yield 1
        yield 2
x = w(); next(x); x.close(); print('--')
for v in w():
    if v == 1: continue
    print('v2')
def fin():
    try: return 'a'
    finally: print('f')
print(fin())
def fin2():
    for i in range(3):
        try:
            if i == 1: continue
            if i == 2: break
        finally: print('f', i)
    else: print('else')
    try: return 1
    finally: return 2
print(fin2())
def thrower():
    try: yield 1
    except Exception as e: print('in gen', repr(e)); raise TypeError('new') from e
t = thrower(); next(t)
try: t.throw(ValueError, 'old style')
except TypeError as e: print(repr(e), repr(e.__cause__))
t = thrower(); next(t)
try: t.throw(ValueError)
except TypeError as e: print(repr(e), repr(e.__cause__))
print(inspect if False else 'ok')
def acc():
    tot = 0
    while (v := (yield tot)) is not None: tot += v
    return tot
a = acc(); next(a); a.send(3); a.send(4)
try: a.send(None)
except StopIteration as s: print(s.value)
async def co(): return 5
c = co()
try: c.send(None)
except StopIteration as s: print(s.value)
async def co2():
    x = await co(); return x + 1
try: co2().send(None)
except StopIteration as s: print(s.value)
print(list(map(lambda a, b: a + b, [1, 2], [3, 4, 5])), list(filter(None, [0, 1, '', 'a'])), list(zip('ab', [1, 2, 3], 'xyz')), list(enumerate('ab', 5)), any(x > 1 for x in [1, 2]), all([]))
it = iter([1, 2, 3]); print(next(it), list(it), next(it, 'dflt')); print(list(iter(lambda c=[0]: c.__setitem__(0, c[0] + 1) or c[0], 4)))
