from collections import ChainMap, Counter, OrderedDict, defaultdict, deque, namedtuple

c = Counter('abracadabra')
print(c, c['a'], c['z'], c.most_common(2), sorted(c.elements())[:5], sum(c.values()), c.total())
d = Counter(a=1, b=5)
print(c + d, c - d, c & d, c | d, +Counter(a=-1, b=2), -Counter(a=-1))
c.subtract('aab')
c.update({'z': 3})
del c['b']
print(c, dict(c), Counter([1, 1, 2]) == Counter({1: 2, 2: 1}), list(Counter('ab').items()))
q = deque([1, 2, 3], maxlen=3)
q.append(4)
q.appendleft(0)
print(q, list(q), q.maxlen, q[0], q[-1], len(q))
r = deque('abcde')
r.rotate(2)
print(r, r.pop(), r.popleft(), r.index('a'), r.count('b'), list(reversed(r)))
r.extend('xy')
r.extendleft('12')
r.insert(2, 'Q')
r.remove('x')
print(r, 'Q' in r, deque([1]) == deque([1]), deque([1, 2]) < deque([1, 3]), r.copy() == r)
r.clear()
try:
    r.pop()
except IndexError as error:
    print(error)
g = defaultdict(list, {'k': [0]})
g['k'].append(1)
g['new'].append(2)
print(g, 'missing' in g, g.get('missing'), dict(g), g.default_factory)
nested = defaultdict(lambda: defaultdict(int))
nested['a']['b'] += 2
print({key: dict(value) for key, value in nested.items()})
o = OrderedDict([('x', 1), ('y', 2), ('z', 3)])
o.move_to_end('x')
o.move_to_end('z', last=False)
print(o, o.popitem(), o.popitem(last=False), list(o), OrderedDict(a=1, b=2) == OrderedDict(b=2, a=1), OrderedDict(a=1) == {'a': 1})
m = ChainMap({'a': 1}, {'a': 2, 'b': 3})
m['c'] = 4
print(m['a'], m['b'], sorted(m), m.maps, dict(m.new_child({'b': 0})), len(m))
P = namedtuple('P', ['x', 'y'], defaults=[0])
p = P(1)
print(p, p.x, p[1], p._asdict(), p._replace(y=5), P._make([7, 8]), P(1, 2) == (1, 2), *p, P._fields, P._field_defaults)
x, y = p
print(x, y, p + (3,), len(p), hash(p) == hash((1, 0)), isinstance(p, tuple), sorted([P(2, 1), P(1, 9)]))
try:
    P()
except TypeError as error:
    print('TypeError')
try:
    p.x = 1
except AttributeError as error:
    print('AttributeError')


class Point(namedtuple('Point', 'x y')):
    __slots__ = ()

    @property
    def norm(self):
        return (self.x ** 2 + self.y ** 2) ** 0.5

    def __add__(self, other):
        return Point(self.x + other.x, self.y + other.y)


print(Point(3, 4).norm, Point(1, 2) + Point(3, 4))
