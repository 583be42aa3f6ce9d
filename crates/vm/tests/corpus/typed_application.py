# dataclass/typing heavy app
from __future__ import annotations
import enum, json, textwrap, itertools, contextlib, copy, operator, bisect, heapq, string
from collections import ChainMap, deque, defaultdict, Counter, OrderedDict, UserDict
from dataclasses import dataclass, field, asdict, replace, astuple, fields
from typing import Any, ClassVar, Generic, Iterator, NamedTuple, Protocol, TypeVar, Optional, Union
T = TypeVar('T')
class Status(enum.Enum):
    TODO = 'todo'; DOING = 'doing'; DONE = 'done'
    @property
    def next(self) -> Status:
        members = list(type(self)); i = members.index(self)
        return members[min(i + 1, len(members) - 1)]
    def __lt__(self, o): return list(Status).index(self) < list(Status).index(o)
class Priority(enum.IntEnum): LOW = 1; MED = 5; HIGH = 10
@dataclass(order=True)
class Task:
    sort_index: tuple = field(init=False, repr=False)
    title: str = field(compare=False)
    priority: Priority = field(default=Priority.MED, compare=False)
    status: Status = field(default=Status.TODO, compare=False)
    tags: set[str] = field(default_factory=set, compare=False)
    deps: list[Task] = field(default_factory=list, compare=False, repr=False)
    count: ClassVar[int] = 0
    def __post_init__(self):
        self.sort_index = (-self.priority, self.title)
        type(self).count += 1
    def advance(self) -> Task: return replace(self, status=self.status.next)
class Repo(Generic[T]):
    def __init__(self) -> None: self._items: dict[int, T] = {}; self._ids = itertools.count(1)
    def add(self, x: T) -> int: i = next(self._ids); self._items[i] = x; return i
    def __getitem__(self, i: int) -> T: return self._items[i]
    def __iter__(self) -> Iterator[T]: yield from self._items.values()
    def where(self, **kw): return [x for x in self if all(getattr(x, k) == v for k, v in kw.items())]
r = Repo[Task]()
a = r.add(Task('write', Priority.HIGH, tags={'x'})); b = r.add(Task('review', deps=[r[a]])); c = r.add(Task('alpha', Priority.HIGH))
print(sorted(r), r[a].advance().status, r[a].advance().advance().advance().status, Task.count, r.where(priority=Priority.HIGH), max(Status), sorted([Status.DONE, Status.TODO]), sep='\n')
d = asdict(r[b]); print(d['deps'][0]['title'], d['priority'], json.dumps({k: (v.value if isinstance(v, enum.Enum) else sorted(v) if isinstance(v, set) else v) for k, v in d.items() if k not in ('deps', 'sort_index')}))
class Point(NamedTuple):
    x: float = 0; y: float = 0
    def __add__(self, o): return Point(self.x + o.x, self.y + o.y)
print(Point(1, 2) + Point(3, 4), Point()._replace(x=5), Point(*[1, 2]).x, [*Point(7, 8)], Point._fields, Point(1) == (1, 0))
class Shape(Protocol):
    def area(self) -> float: ...
class Sq:
    def __init__(self, s): self.s = s
    def area(self) -> float: return self.s ** 2
def total(shapes: list[Shape]) -> float: return sum(s.area() for s in shapes)
print(total([Sq(2), Sq(3)]))
cm = ChainMap({'a': 1}, {'b': 2, 'a': 0}); print(cm['a'], cm['b'], sorted(cm), {**cm})
class Up(UserDict):
    def __setitem__(self, k, v): super().__setitem__(k.upper(), v)
u = Up(a=1); u['b'] = 2; print(dict(u), 'A' in u, len(u), u)
print(textwrap.dedent('''\
    indented
      more
    back'''), textwrap.fill('word ' * 12, width=22, initial_indent='* ', subsequent_indent='  '), sep='\n')
grades = [33, 99, 77, 70, 89, 90, 100]; print([('FDCBA')[bisect.bisect([60, 70, 80, 90], g)] for g in grades])
g = {'A': {'B': 1, 'C': 4}, 'B': {'C': 2, 'D': 5}, 'C': {'D': 1}, 'D': {}}
def dijkstra(g, s):
    dist, q = {s: 0}, [(0, s)]
    while q:
        d, n = heapq.heappop(q)
        if d > dist.get(n, float('inf')): continue
        for m, w in g[n].items():
            if (nd := d + w) < dist.get(m, float('inf')): dist[m] = nd; heapq.heappush(q, (nd, m))
    return dist
print(dijkstra(g, 'A'))
def topo(deps):
    indeg = Counter(); adj = defaultdict(list)
    for k, vs in deps.items():
        indeg[k] += 0
        for v in vs: adj[v].append(k); indeg[k] += 1; indeg[v] += 0
    q = deque(sorted(k for k, n in indeg.items() if not n)); out = []
    while q:
        n = q.popleft(); out.append(n)
        for m in adj[n]:
            indeg[m] -= 1
            if not indeg[m]: q.append(m)
    if len(out) != len(indeg): raise ValueError('cycle')
    return out
print(topo({'app': ['db', 'log'], 'db': ['log'], 'log': []}))
try: topo({'a': ['b'], 'b': ['a']})
except ValueError as e: print(e)
x = {'l': [1, {'k': (2, [3])}]}; y = copy.deepcopy(x); y['l'][1]['k'][1].append(4); z = copy.copy(x); z['l'].append(9); print(x, y)
@contextlib.contextmanager
def tag(name):
    print(f'<{name}>')
    try: yield name.upper()
    except ZeroDivisionError: print('oops')
    finally: print(f'</{name}>')
with tag('a') as A, tag('b'): print(A); 1 / 0
with contextlib.ExitStack() as stack:
    for n in 'xy': stack.enter_context(tag(n))
    stack.callback(print, 'callback')
print(string.ascii_lowercase[:5], string.digits, string.capwords('hi there'), string.Template('$who likes ${what}').substitute(who='A', what='B'), operator.itemgetter(1, 0)('ab'), sorted([{'n': 2}, {'n': 1}], key=operator.itemgetter('n')))
match json.loads('{"cmd": "move", "to": [1, 2], "opts": {"fast": true}}'):
    case {'cmd': 'move', 'to': [x, y], 'opts': {'fast': bool(f)}}: print('move', x, y, f)
    case _: print('?')
print([f.name for f in fields(Task)][:3], astuple(Point(1, 2)) if False else '', isinstance(Status.TODO, enum.Enum), Status('done') is Status.DONE, Status['TODO'].name, Priority.HIGH > 7, f'{Priority.LOW:03d}', repr(Status.TODO), str(Priority.MED))
