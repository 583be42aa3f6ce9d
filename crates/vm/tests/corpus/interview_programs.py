# classic interview programs
from collections import deque, defaultdict, Counter, OrderedDict
import heapq, bisect, itertools, functools, math, re, string, json
def two_sum(ns, t):
    seen = {}
    for i, n in enumerate(ns):
        if t - n in seen: return seen[t - n], i
        seen[n] = i
def valid(s):
    st = []
    for c in s:
        if c in '([{': st.append(c)
        elif not st or '([{'.index(st.pop()) != ')]}'.index(c): return False
    return not st
def merge(iv):
    out = []
    for a, b in sorted(iv):
        if out and a <= out[-1][1]: out[-1][1] = max(out[-1][1], b)
        else: out.append([a, b])
    return out
def islands(g):
    g = [list(r) for r in g]; n = 0
    for i in range(len(g)):
        for j in range(len(g[0])):
            if g[i][j] == '1':
                n += 1; q = deque([(i, j)])
                while q:
                    x, y = q.popleft()
                    if 0 <= x < len(g) and 0 <= y < len(g[0]) and g[x][y] == '1':
                        g[x][y] = '0'; q.extend([(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)])
    return n
class Trie:
    def __init__(self): self.c, self.end = {}, False
    def add(self, w):
        n = self
        for ch in w: n = n.c.setdefault(ch, Trie())
        n.end = True
    def find(self, p):
        n = self
        for ch in p:
            if ch not in n.c: return []
            n = n.c[ch]
        return sorted(self._walk(n, p))
    def _walk(self, n, p):
        if n.end: yield p
        for ch, m in n.c.items(): yield from self._walk(m, p + ch)
class UF:
    def __init__(self, n): self.p = list(range(n)); self.r = [0] * n
    def find(self, x):
        while self.p[x] != x: self.p[x] = self.p[self.p[x]]; x = self.p[x]
        return x
    def union(self, a, b):
        a, b = self.find(a), self.find(b)
        if a == b: return False
        if self.r[a] < self.r[b]: a, b = b, a
        self.p[b] = a; self.r[a] += self.r[a] == self.r[b]
        return True
class MinStack(list):
    def push(self, x): self.append((x, min(x, self[-1][1]) if self else x))
    @property
    def low(self): return self[-1][1]
class BST:
    class N:
        __slots__ = 'k', 'l', 'r'
        def __init__(self, k): self.k = k; self.l = self.r = None
    def __init__(self, it=()):
        self.root = None
        for x in it: self.add(x)
    def add(self, k):
        if self.root is None: self.root = BST.N(k); return
        n = self.root
        while True:
            side = 'l' if k < n.k else 'r'
            nx = getattr(n, side)
            if nx is None: setattr(n, side, BST.N(k)); return
            n = nx
    def __iter__(self):
        st, n = [], self.root
        while st or n:
            while n: st.append(n); n = n.l
            n = st.pop(); yield n.k; n = n.r
    def height(self, n='root'):
        n = self.root if n == 'root' else n
        return 0 if n is None else 1 + max(self.height(n.l), self.height(n.r))
print(two_sum([2, 7, 11, 15], 9), [valid(s) for s in ('()[]{}', '(]', '([{}])', '((')], merge([[8, 10], [1, 3], [2, 6], [15, 18]]), islands(['11000', '11000', '00100', '00011']))
t = Trie(); [t.add(w) for w in 'car card care cat dog'.split()]; print(t.find('car'), t.find('x'), t.find(''))
u = UF(5); print([u.union(*e) for e in [(0, 1), (2, 3), (1, 3), (0, 2)]], len({u.find(i) for i in range(5)}))
m = MinStack(); [m.push(x) for x in (3, 5, 2, 4)]; print(m.low, m.pop(), m.pop(), m.low)
b = BST([5, 2, 8, 1, 9, 3]); print(list(b), b.height())
def lis(a):
    t = []
    for x in a:
        i = bisect.bisect_left(t, x); t[i:i + 1] = [x]
    return len(t)
def knap(items, cap):
    dp = [0] * (cap + 1)
    for w, v in items:
        for c in range(cap, w - 1, -1): dp[c] = max(dp[c], dp[c - w] + v)
    return dp[-1]
def edit(a, b):
    d = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        prev, d[0] = d[0], i
        for j, y in enumerate(b, 1): prev, d[j] = d[j], min(d[j] + 1, d[j - 1] + 1, prev + (x != y))
    return d[-1]
print(lis([10, 9, 2, 5, 3, 7, 101, 18]), knap([(1, 1), (3, 4), (4, 5), (5, 7)], 7), edit('kitten', 'sitting'), functools.reduce(lambda a, b: a * b, range(1, 8)), math.comb(10, 3))
def sieve(n):
    s = bytearray([1]) * (n + 1); s[:2] = b'\0\0'
    for i in range(2, int(n ** .5) + 1):
        if s[i]: s[i * i::i] = bytes(len(range(i * i, n + 1, i)))
    return [i for i, p in enumerate(s) if p]
print(sieve(50), sum(sieve(1000)))
def quick(a): return a if len(a) < 2 else quick([x for x in a[1:] if x < a[0]]) + [a[0]] + quick([x for x in a[1:] if x >= a[0]])
def msort(a):
    if len(a) < 2: return a
    h = len(a) // 2; l, r = msort(a[:h]), msort(a[h:]); out = []
    while l and r: out.append((l if l[0] <= r[0] else r).pop(0))
    return out + l + r
data = [(i * 7919) % 101 for i in range(30)]; print(quick(data) == msort(data) == sorted(data), heapq.nsmallest(3, data), heapq.nlargest(3, data), Counter(x % 5 for x in data).most_common())
def queens(n, r=0, cols=frozenset(), d1=frozenset(), d2=frozenset()): return 1 if r == n else sum(queens(n, r + 1, cols | {c}, d1 | {r + c}, d2 | {r - c}) for c in range(n) if c not in cols and r + c not in d1 and r - c not in d2)
print(queens(6), [*itertools.accumulate(range(1, 6), lambda a, b: a * b)], list(zip(*[iter('abcdef')] * 2)))
life = {(1, 0), (1, 1), (1, 2)}
step = lambda c: {p for p, n in Counter((x + dx, y + dy) for x, y in c for dx in (-1, 0, 1) for dy in (-1, 0, 1) if dx or dy).items() if n == 3 or n == 2 and p in c}
print(sorted(step(life)), step(step(life)) == life)
def group(ws):
    d = defaultdict(list)
    for w in ws: d[''.join(sorted(w))].append(w)
    return sorted(map(sorted, d.values()))
print(group(['eat', 'tea', 'tan', 'ate', 'nat', 'bat']), ''.join(c for c, _ in itertools.groupby('aabbcca')), max(re.findall(r'\w+', 'the quick brown fox'), key=len), int(''.join(reversed(str(12345)))), [*map(''.join, itertools.permutations('abc', 2))][:4])
hist = Counter('mississippi'); w = max(hist.values())
for k in sorted(hist): print(f'{k} | {"#" * hist[k]:<{w}} | {hist[k]:>2} {hist[k] / 11:6.1%}')
class Poly:
    def __init__(self, *c): self.c = list(c)
    def __call__(self, x): return functools.reduce(lambda a, k: a * x + k, reversed(self.c), 0)
    def __mul__(self, o):
        r = [0] * (len(self.c) + len(o.c) - 1)
        for i, a in enumerate(self.c):
            for j, b in enumerate(o.c): r[i + j] += a * b
        return Poly(*r)
    def __str__(self): return ' + '.join(f'{k}x^{i}' if i > 1 else f'{k}x' if i else str(k) for i, k in enumerate(self.c) if k) or '0'
p = Poly(1, 2) * Poly(0, 1, 3); print(p, p(2), Poly())
