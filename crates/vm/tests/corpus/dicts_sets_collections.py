d = {'b': 1, 'a': 2}; d['c'] = 3; del d['b']; d['b'] = 4; print(d, list(d), list(d.items()), list(reversed(d)), d.keys() & {'a', 'z'}, sorted(d.keys() | {'q'}))
print(d | {'a': 9, 'z': 0}, {**d, 'x': 1}); d |= {'k': 7}; d |= [('m', 1)]; print(d)
print(d.setdefault('a', 5), d.setdefault('n', []), d.get('q'), d.get('q', 1), d.pop('a'), d.pop('zz', None), d.popitem(), d)
d.update(a=1, b=2); d.update([('c', 3)]); d.update({'e': 5}, f=6); print(d, len(d), 'a' in d, 'zz' in d)
print(dict.fromkeys('abc'), dict.fromkeys([1, 2], 0), dict(a=1), dict([('a', 1)]), dict(zip('ab', [1, 2])), dict({'x': 1}, y=2))
print({1: 'int', 1.0: 'float', True: 'bool'}, {0: 'a', False: 'b'}, {(1, 2): 3}, {None: 1})
print(d == dict(reversed(list(d.items()))), d.copy() is d, {} == {}, {1: 2} != {1: 3})
try:
    for k in d: d[k + 'x'] = 1
except RuntimeError as e: print(e)
try:
    for k in list(d): del d[k]
    print(d)
except RuntimeError as e: print(e)
s = {3, 1, 2}; print(sorted(s), len(s), 2 in s, s == {1, 2, 3}, s <= {1, 2, 3, 4}, s < s, s >= {1}, s.isdisjoint({9}), sorted(s ^ {3, 4}), sorted(s - {1}), sorted(s & {1, 2}), sorted(s | {7}))
s.add(4); s.discard(100); s.update([5], {6}); s.difference_update({1}); s.intersection_update({2, 3, 4, 5}); s.symmetric_difference_update({5, 9}); print(sorted(s))
f = frozenset([1, 2]); print(f, hash(f) == hash(frozenset([2, 1])), f | {3}, {f: 1}, f == {1, 2}, type(f | {3}), type({3} | f), frozenset(), set(), {frozenset({1})})
print({x: y for x, y in zip('abc', range(3))}, {x % 3 for x in range(3)}, {k: v for k, v in {'a': 1}.items() if v}, {i: {j: i * j for j in range(2)} for i in range(2)})
for v in ({'a': {'b': [1, (2,), {3}]}}, [None, True, 1.5, 'x', b'y'], (1,), (), [()], {1: {}}, 'q"', "q'", 'q\'"', '\n\t\\\x00\x7f\x80\xa0\u200b😀', b'\x00\xff\'"\n', bytearray(b'x')): print(v, repr(v))
l = [1]; l.append(l); print(l); dd = {}; dd['self'] = dd; print(dd)
from collections import defaultdict, Counter, OrderedDict, namedtuple, deque, ChainMap
dd = defaultdict(list); dd['a'].append(1); dd['b']; print(dd, dict(dd), dd.get('zz'), 'zz' in dd, dd.default_factory)
dd2 = defaultdict(lambda: defaultdict(int)); dd2['x']['y'] += 1; print(dd2['x']['y'], len(dd2))
try: defaultdict()['a']
except KeyError as e: print('KeyError', e)
c = Counter('abracadabra'); print(c, c.most_common(2), c['z'], c + Counter('aab'), c - Counter('aaaaaa'), c & Counter('ab'), c | Counter('zz'), sum(c.values()), c.total(), list(Counter(a=2, b=1).elements()), +Counter(a=-1, b=2), -Counter(a=-1)); c.update('zzz'); c.subtract({'a': 1}); print(c, c == Counter(c), Counter(), Counter([1, 1, 2]))
od = OrderedDict([('a', 1), ('b', 2)]); od.move_to_end('a'); print(od, od.popitem(last=False), od, list(od), od == {'a': 1}, OrderedDict(a=1) == OrderedDict(a=1))
P = namedtuple('P', 'x y'); p = P(1, y=2); print(p, p.x, p[1], p._replace(x=5), p._asdict(), P._fields, p == (1, 2), P._make([3, 4]), *p, hash(p) == hash((1, 2)), isinstance(p, tuple), p + (3,), len(p), p < P(1, 3))
P2 = namedtuple('P2', ['a', 'b', 'c'], defaults=[10, 20]); print(P2(1), P2._field_defaults, P2.__name__, P2.__doc__)
for fn in (lambda: P(1), lambda: P(1, 2, 3), lambda: P(x=1, z=2), lambda: namedtuple('B', 'def'), lambda: namedtuple('B', 'a a'), lambda: namedtuple('B', '_a'), lambda: setattr(p, 'x', 3), lambda: p._replace(q=1)):
    try: print(fn())
    except Exception as e: print(type(e).__name__, e)
q = deque([1, 2, 3], maxlen=3); q.append(4); q.appendleft(0); print(q, q[0], q[-1], len(q), q.maxlen, list(q), 2 in q); q.rotate(1); print(q); q.extend([7, 8]); q.extendleft([5]); print(q, q.pop(), q.popleft(), q, deque('ab') + deque('c'), deque([1]) == deque([1]), deque(), q.count(7), bool(deque()), deque('abc').index('b')); q.clear(); q2 = deque([1, 2, 3]); q2.insert(1, 'i'); q2.remove(2); q2.reverse(); print(q2, q2.copy(), deque([1, 2]) < deque([1, 3])); del q2[0]; q2[0] = 'z'; print(q2)
cm = ChainMap({'a': 1}, {'a': 2, 'b': 3}); print(cm['a'], cm['b'], dict(cm), len(cm), cm, cm.new_child({'c': 1})['c'], cm.parents, list(cm), cm.maps); cm['z'] = 1; print(cm.maps)
for fn in (lambda: deque().pop(), lambda: deque([1])[5], lambda: cm['q'], lambda: od['q'], lambda: deque([1]).remove(4), lambda: Counter(1)):
    try: print(fn())
    except Exception as e: print(type(e).__name__, e)
