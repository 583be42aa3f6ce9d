# async & coroutine scripts driven by hand, context vars of generators, exceptions in odd places
class Awaitable:
    def __init__(self, v): self.v = v
    def __await__(self):
        got = yield ('want', self.v)
        return got
async def inner(n):
    try:
        a = await Awaitable(n)
        b = await Awaitable(a * 2)
        return a + b
    finally:
        print('inner done')
async def outer():
    r = await inner(1)
    async with CM() as c: r += c
    async for x in agen(3): r += x
    r += sum([y async for y in agen(3)])
    return r
class CM:
    async def __aenter__(self): print('aenter'); return await Awaitable('cm')
    async def __aexit__(self, *a): print('aexit', a[0])
async def agen(n):
    for i in range(n):
        yield i
def run(co):
    send = None
    try:
        while True:
            k, v = co.send(send)
            print('got', k, v)
            send = 10 if v != 'cm' else 100
    except StopIteration as s:
        return s.value
print(run(outer()))
async def boom():
    try: await Awaitable(1)
    except ValueError as e: print('caught', e); return 'ok'
c = boom(); c.send(None)
try: c.throw(ValueError('thrown'))
except StopIteration as s: print(s.value)
c = boom(); c.send(None); c.close()
print(type(c).__name__, c.__class__.__name__)
async def never(): pass
n = never(); n.close()
try: run(5)
except AttributeError as e: print(e)
async def bad(): await 5
try: run(bad())
except TypeError as e: print(e)
class Scheduler:
    def __init__(self): self.q = []
    def spawn(self, co): self.q.append((co, None)); return self
    def run(self):
        out = []
        while self.q:
            co, v = self.q.pop(0)
            try: self.q.append((co, co.send(v)))
            except StopIteration as s: out.append(s.value)
        return out
class Sleep:
    def __await__(self): return (yield)
async def worker(name, n):
    for i in range(n):
        print(name, i); await Sleep()
    return name * n
print(Scheduler().spawn(worker('a', 2)).spawn(worker('b', 3)).run())
def coro():
    total = 0
    while True:
        try:
            v = yield total
        except KeyError as e:
            print('key', e); v = 0
        if v is None: return total
        total += v
g = coro(); next(g); print(g.send(5), g.send(6), g.throw(KeyError('k')))
try: g.send(None)
except StopIteration as s: print('total', s.value)
def deleg():
    try:
        r = yield from coro()
        print('r', r)
    except RuntimeError as e: print('rt', e); yield 'x'
d = deleg(); next(d); d.send(1); print(d.throw(RuntimeError('z')))
def cleanup():
    try: yield 1
    finally: print('cleaned')
for v in cleanup(): pass
def genexc():
    yield 1
    raise ValueError('gen')
it = genexc(); next(it)
for _ in range(2):
    try: next(it)
    except ValueError as e: print('first', e)
    except StopIteration: print('then stop')
def multi():
    x = yield
    while x:
        y = (yield x) or 0
        x = x - 1 + y
m = multi(); next(m); print(m.send(2), m.send(0), m.send(3), next(m, 'end'))
print(sum(x for x in (lambda: (yield 5))()), list((lambda: (yield))()))
a = (i for i in range(3)); b = (i * 2 for i in a); print(next(b), list(a), list(b))
gens = [(lambda n: (n * i for i in range(2)))(k) for k in range(3)]; print([list(g) for g in gens])
