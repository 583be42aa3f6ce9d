d = {'b': 1, 'a': 2}
d['c'] = 3
d.update({'d': 4}, e=5)
d.update([('f', 6)])
print(d, d.get('a'), d.get('z'), d.get('z', 0), d.setdefault('a', 9), d.setdefault('g', 7), d.pop('b'), d.pop('zz', None), d.popitem())
print(list(d), list(d.values()), list(d.items()), len(d), 'a' in d, 'q' not in d, sorted(d.items(), key=lambda kv: -kv[1]))
e = dict(a=1, **{'b': 2})
print(e | {'b': 3, 'c': 4}, {**e, 'z': 0}, e == {'b': 2, 'a': 1}, dict([(1, 2)]), dict(zip('xy', [1, 2])), dict.fromkeys('ab', 0), dict.fromkeys([1]), {}.fromkeys('k', []))
e |= {'q': 9}
del e['a']
print(e, list(reversed(e)), e.copy() is e, bool({}), {1: {2: {3: 'deep'}}}[1][2][3])
k, v = d.keys(), d.values()
d['new'] = 1
print(k, v, d.items(), k & {'a', 'new', 'zz'} == {'a', 'new'}, k - {'a'} == set(d) - {'a'}, ('a', 2) in d.items(), 2 in v)
print({1: 'int', 1.0: 'float', True: 'bool', (1, 2): 't', None: 'n', 'x': frozenset([1])}, {i: i * i for i in range(4) if i % 2}, {v: k for k, v in {'a': 1}.items()})
counts = {}
for char in 'mississippi':
    counts[char] = counts.get(char, 0) + 1
print(counts, max(counts, key=counts.get), sorted(counts, key=lambda c: (-counts[c], c)))
groups = {}
for n in range(10):
    groups.setdefault(n % 3, []).append(n)
print(groups, sum(map(len, groups.values())), all(isinstance(k, int) for k in groups))
inverted = {}
for key, values in groups.items():
    for value in values:
        inverted[value] = key
print(inverted)


class Lower(dict):
    def __setitem__(self, key, value):
        super().__setitem__(key.lower(), value)

    def __getitem__(self, key):
        return super().__getitem__(key.lower())

    def __missing__(self, key):
        return f'no {key}'


low = Lower()
low['ABC'] = 1
print(low, low['aBc'], low['zzz'], low.get('ABC'), isinstance(low, dict), len(low), list(low.items()))
s = {3, 1, 2}
s.add(4)
s.discard(9)
s.remove(1)
s |= {7}
print(sorted(s), sorted(s & {2, 3}), sorted(s - {2}), sorted(s ^ {2, 100}), s >= {2}, s.isdisjoint({50}), s.issubset(range(10)), len(s), {1} < {1, 2}, set() == set(), frozenset([1, 2]) == {1, 2})
s.update([10], (11,))
s.intersection_update({10, 11, 2})
print(sorted(s), sorted(s.union([1])), s.pop() in (2, 10, 11), len(s), sorted({x % 3 for x in range(10)}), sorted(set('hello')), hash(frozenset([1])) == hash(frozenset([1])))
for f in (lambda: {}['k'], lambda: {[]: 1}, lambda: {}.popitem(), lambda: {1}.remove(2), lambda: {{}}, lambda: dict([1]), lambda: dict([(1, 2, 3)]), lambda: set().pop(), lambda: {1: 2} + {3: 4}, lambda: {1: 2} < {3: 4}, lambda: d.pop('nope'), lambda: {1}[0]):
    try:
        f()
    except Exception as error:
        print(type(error).__name__, error)
