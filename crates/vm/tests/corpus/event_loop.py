import heapq, itertools, json
from abc import ABC, abstractmethod
from collections import deque, Counter, OrderedDict
from contextlib import contextmanager
class Event(ABC):
    registry = {}
    priority = 5
    def __init_subclass__(cls, **kw): super().__init_subclass__(**kw); Event.registry[cls.__name__.lower()] = cls
    def __init__(self, **data): self.__dict__.update(data)
    @abstractmethod
    def run(self, world): ...
    def __lt__(self, o): return self.priority < o.priority
    def __repr__(self): return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in sorted(vars(self).items()))})"
class Spawn(Event):
    priority = 1
    def run(self, world): world.setdefault(self.name, 0); return [Tick(name=self.name, left=2)]
class Tick(Event):
    def run(self, world):
        world[self.name] += 1
        return [Tick(name=self.name, left=self.left - 1)] if self.left > 1 else [Die(name=self.name)]
class Die(Event):
    priority = 9
    def run(self, world): del world[self.name]; return []
class Loop:
    def __init__(self): self.q, self.c, self.world, self.trace = [], itertools.count(), OrderedDict(), deque(maxlen=5)
    def push(self, at, ev): heapq.heappush(self.q, (at, ev.priority, next(self.c), ev))
    @contextmanager
    def timing(self, label):
        self.trace.append('>' + label)
        try: yield self
        finally: self.trace.append('<' + label)
    def run(self):
        while self.q:
            at, _, n, ev = heapq.heappop(self.q)
            with self.timing(f'{type(ev).__name__}@{at}'):
                for new in ev.run(self.world): self.push(at + 1, new)
            print(f'{at:>3} {ev!r:<30} {dict(self.world)}')
l = Loop()
for i, line in enumerate(json.loads('[{"t": "spawn", "name": "a"}, {"t": "spawn", "name": "b"}]')):
    t = line.pop('t'); l.push(i, Event.registry[t](**line))
l.run(); print(list(l.trace), Event.registry.keys() >= {'tick'}, sorted(Event.registry))
try: Event()
except TypeError as e: print(e)
print(json.dumps({'c': Counter('hello').most_common(2), 'q': list(l.trace)[:1]}, indent=1))
text = "the rain in spain stays mainly in the plain"
words = text.split()
index = {}
for n, w in enumerate(words): index.setdefault(w[0], []).append((n, w))
for k in sorted(index, key=lambda k: (-len(index[k]), k)): print(k, *(f'{n}:{w}' for n, w in index[k]), sep=' ')
print({k: [w for _, w in v] for k, v in index.items() if len(v) > 1}, Counter(map(len, words)), max(words, key=len), ' '.join(w.title() if i % 2 else w[::-1] for i, w in enumerate(words)))
class LRU:
    def __init__(self, n): self.n, self.d = n, OrderedDict()
    def __getitem__(self, k): self.d.move_to_end(k); return self.d[k]
    def __setitem__(self, k, v):
        self.d[k] = v; self.d.move_to_end(k)
        if len(self.d) > self.n: self.d.popitem(last=False)
    def __contains__(self, k): return k in self.d
c = LRU(2); c['a'] = 1; c['b'] = 2; c['a']; c['c'] = 3; print(list(c.d), 'b' in c)
try: c['b']
except KeyError as e: print('KeyError', e)
def primes():
    comp = {}
    for n in itertools.count(2):
        if n not in comp: yield n; comp[n * n] = [n]
        else:
            for p in comp.pop(n): comp.setdefault(n + p, []).append(p)
print(list(itertools.islice(primes(), 15)), list(itertools.takewhile(lambda p: p < 20, primes())))
def flatten(x):
    for y in x:
        if isinstance(y, (list, tuple)): yield from flatten(y)
        else: yield y
print(list(flatten([1, [2, (3, [4])], 5])), [*itertools.chain(*[[1], [2, 3]])], dict(itertools.zip_longest('abc', [1])), list(itertools.accumulate('abc')))
