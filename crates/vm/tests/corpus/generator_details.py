def permutations_iter(s):
    if len(s) <= 1: yield s; return
    for i, c in enumerate(s):
        for r in permutations_iter(s[:i] + s[i+1:]): yield c + r
print(list(permutations_iter('abc')))
def primes():
    D = {}; q = 2
    while True:
        if q not in D: yield q; D[q * q] = [q]
        else:
            for p in D[q]: D.setdefault(p + q, []).append(p)
            del D[q]
        q += 1
g = primes(); print([next(g) for _ in range(10)])
def tree():
    received = []
    while True:
        try: x = yield len(received)
        except KeyError as e: received.append(('err', e.args[0])); continue
        if x is None: return received
        received.append(x)
t = tree(); next(t); t.send(1); print(t.throw(KeyError('k')))
try: t.send(None)
except StopIteration as e: print(e.value)
def flat(x):
    for i in x:
        if hasattr(i, '__iter__') and not isinstance(i, str): yield from flat(i)
        else: yield i
print(list(flat([1, [2, (3, {4})], 'ab', [[]]])))
def wrapper(n):
    r = yield from inner(n); print('inner returned', r); yield r * 2
def inner(n):
    for i in range(n): yield i
    return n * 10
print(list(wrapper(3)))
gen = (x * y for x in range(3) for y in range(x) if x + y > 1); print(list(gen), list(gen), next(gen, 'done'))
print(sum(x for x in range(5)), max(len(w) for w in ['a', 'bbb']), dict((i, i * i) for i in range(3)), sorted(x % 3 for x in range(6)), ''.join(c for c in 'a1b2' if c.isalpha()), any(x > 3 for x in range(5)), set(x % 2 for x in range(5)), tuple(x for x in 'ab'), list(zip((i for i in range(2)), 'xy')))
import itertools
def chunks(it, n):
    it = iter(it)
    while chunk := list(itertools.islice(it, n)): yield chunk
print(list(chunks(range(7), 3)))
def countdown(n):
    print('start')
    try:
        while n > 0: n -= 1; yield n
    finally: print('cleanup')
it = countdown(3)
for x in it:
    print(x)
    if x == 1: break
it.close()
class Tree:
    def __init__(self, v, l=None, r=None): self.v, self.l, self.r = v, l, r
    def __iter__(self):
        if self.l: yield from self.l
        yield self.v
        if self.r: yield from self.r
    def bfs(self):
        q = [self]
        while q:
            n = q.pop(0); yield n.v; q += [c for c in (n.l, n.r) if c]
t = Tree(4, Tree(2, Tree(1), Tree(3)), Tree(6, None, Tree(7)))
print(list(t), list(t.bfs()), sum(t), 3 in t, max(t), [*reversed(list(t))])
def fib(a=0, b=1):
    while True: yield a; a, b = b, a + b
print(list(itertools.takewhile(lambda x: x < 50, fib())), next(x for x in fib() if x > 1000), [x for x, _ in zip(fib(), range(5))])
def merge(*its):
    its = [iter(i) for i in its]; heads = [(next(i), n) for n, i in enumerate(its)]
    while heads:
        heads.sort(); v, n = heads[0]; yield v
        try: heads[0] = (next(its[n]), n)
        except StopIteration: heads.pop(0)
print(list(merge([1, 4, 7], [2, 5], [3])))
def pipeline(*fs):
    def run(x):
        for f in fs: x = f(x)
        return x
    return run
print(list(pipeline(lambda xs: (x + 1 for x in xs), lambda xs: filter(lambda x: x % 2, xs), lambda xs: map(str, xs))(range(6))))
def state():
    s = 'a'
    while s != 'end':
        cmd = yield s
        s = {'a': {'go': 'b'}, 'b': {'back': 'a', 'stop': 'end'}}[s].get(cmd, s)
m = state(); print(next(m), m.send('go'), m.send('zzz'), m.send('back'), m.send('go'))
try: m.send('stop')
except StopIteration: print('ended')
print(type(m).__name__, m.gi_frame is None if hasattr(m, 'gi_frame') else True, list(m))
def g1():
    x = 0
    while x < 3:
        y = (yield x) or 1
        x += y
a = g1(); print(next(a), a.send(2), next(a, 'end'))
print([(lambda: (yield))().__class__.__name__], list(map(list, itertools.tee('ab', 2))), [list(g) for _, g in itertools.groupby('aabbb')])
def raises():
    yield 1
    raise ValueError('mid')
r = raises(); next(r)
try: next(r)
except ValueError as e: print(e)
print(next(r, 'dead'))
def reenter():
    yield next(me)
me = reenter()
try: next(me)
except ValueError as e: print(e)
try: 
    def bad(): raise StopIteration; yield
    next(bad())
except RuntimeError as e: print(e, type(e.__cause__).__name__)
