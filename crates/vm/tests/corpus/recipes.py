# Recipes with itertools, functools, operator and collections.
from itertools import *
from functools import *
from operator import *
from collections import *
import operator
def chunked(it, n):
    it = iter(it)
    while batch := tuple(islice(it, n)): yield batch
print(list(chunked(range(7), 3)))
def sliding(it, n):
    it = iter(it); w = deque(islice(it, n), maxlen=n)
    if len(w) == n: yield tuple(w)
    for x in it: w.append(x); yield tuple(w)
print(list(sliding("ABCDE", 3)))
print(list(chain.from_iterable(combinations([1, 2, 3], r) for r in range(4))))
def unique(it, key=None):
    seen = set(); add = seen.add
    for e in filterfalse(seen.__contains__, it) if key is None else it:
        k = e if key is None else key(e)
        if k not in seen: add(k); yield e
print("".join(unique("AAAABBBCCDAABBB")), list(unique("ABBcCAD", str.casefold)))
def roundrobin(*its):
    n = len(its); nexts = cycle(iter(i).__next__ for i in its)
    while n:
        try:
            for nx in nexts: yield nx()
        except StopIteration:
            n -= 1; nexts = cycle(islice(nexts, n))
print("".join(roundrobin("ABC", "D", "EF")))
def partition(p, it):
    a, b = tee(it); return list(filterfalse(p, a)), list(filter(p, b))
print(partition(lambda x: x % 2, range(10)))
print(sum(map(mul, [1, 2], [3, 4])), reduce(xor, [1, 2, 3]), list(accumulate([3, 1, 4, 1, 5], max)), list(accumulate("abc")), [*starmap(divmod, [(7, 2), (9, 4)])])
print(list(compress(count(), [1, 0, 1])), list(takewhile(lambda x: x < 10, (x * x for x in count(1)))), list(zip(count(), "ab")), list(zip(*[iter("abcdef")] * 2)), list(islice(repeat("x"), 2)), list(map(pow, range(4), repeat(2))))
compose = lambda *fs: reduce(lambda f, g: lambda x: f(g(x)), fs)
print(compose(str, lambda x: x + 1, int)("41"))
data = [("x", 3), ("y", 1), ("x", 1)]
print(sorted(data, key=itemgetter(1, 0)), {k: [v for _, v in g] for k, g in groupby(sorted(data), itemgetter(0))}, max(data, key=itemgetter(1)), list(map(itemgetter(0), data)))
class A:
    def __init__(s, **k): s.__dict__.update(k)
    def hi(s, *a, **k): return a, k
a = A(n=A(m=5), z=1); print(attrgetter("n.m")(a), attrgetter("z", "n.m")(a), methodcaller("hi", 1, b=2)(a), sorted([A(z=2), A(z=1)], key=attrgetter("z"))[0].z)
@lru_cache(maxsize=3)
def sq(x, *, y=0): return x * x + y
[sq(i % 4) for i in range(10)]; sq(1, y=2); print(sq.cache_info(), sq.cache_info().hits, sq.cache_info()._asdict() if hasattr(sq.cache_info(), "_asdict") else "")
@cache
def fact(n): return n * fact(n - 1) if n else 1
print(fact(20), fact.cache_info().currsize)
p = partial(sorted, key=len, reverse=True); print(p(["a", "bbb", "cc"]), p.func is sorted, p.keywords, p.args, partial(p, reverse=False)(["aa", "b"]))
class Cell:
    def __init__(s): s._alive = False
    def set_state(s, st): s._alive = st
    set_alive = partialmethod(set_state, True)
c = Cell(); c.set_alive(); print(c._alive)
@singledispatch
def show(x, ind=0): return " " * ind + repr(x)
@show.register(list)
@show.register(tuple)
def _(x, ind=0): return "\n".join(show(i, ind + 1) for i in x)
@show.register
def _(x: dict, ind=0): return "\n".join(f"{' ' * ind}{k}:\n{show(v, ind + 1)}" for k, v in x.items())
@show.register(type(None))
def _(x, ind=0): return "~"
print(show({"a": [1, ("b", 2.5)], "c": None}), show.dispatch(bool) is show.dispatch(int))
class Fmt:
    @singledispatchmethod
    def f(self, x): return f"obj {x}"
    @f.register
    def _(self, x: int): return f"int {x}"
    @f.register(str)
    def _(self, x): return f"str {x}"
print(Fmt().f(1), Fmt().f("a"), Fmt().f(2.0))
def cmp(a, b): return (a > b) - (a < b)
print(sorted(["10", "9", "2"], key=cmp_to_key(lambda a, b: cmp(a + b, b + a))), min([3, 1], key=cmp_to_key(cmp)))
it = iter([1, 2, 3]); print(next(it), list(it), next(it, "d")); 
a1, a2 = tee(iter("xyz")); next(a2); print(list(zip(a1, a2)))
print(list(product([1, 2], "ab")), len(list(permutations(range(4)))), list(combinations_with_replacement("AB", 2)), next(permutations("ba")), list(product()), list(combinations("ab", 3)))
d = defaultdict(list); [d[len(w)].append(w) for w in "a bb cc d".split()]; print(d, dict(d), d.keys(), d.get(9), 9 in d, d[9], d.default_factory.__name__, d.copy() == d)
cnt = Counter("mississippi"); print(cnt, cnt.most_common(), cnt["z"], sum(cnt.values()), list(cnt.elements())[:4], cnt - Counter("miss"), cnt & Counter("ssp"), Counter(cnt.values())); del cnt["m"]; cnt["q"] += 1; print(cnt.most_common(1), dict(cnt), sorted(cnt), cnt.total(), cnt.pop("q"), cnt.keys() & {"i"})
dq = deque(range(5), maxlen=4); dq.append(9); dq.rotate(-1); print(dq, dq.popleft(), dq.pop(), len(dq), dq[1], 3 in dq, list(dq), dq.maxlen); dq.extend([7, 8, 9]); dq.appendleft(0); print(dq, dq.index(7), sum(dq)); dq.clear(); print(dq, bool(dq))
cm = ChainMap({"a": 1}, {"a": 2, "b": 3}); ch = cm.new_child(); ch["c"] = 9; print(cm["a"], cm["b"], list(cm), ch, ch.maps, dict(ch), ch.parents is not None, len(ch), "b" in ch, ch.get("zz", 0)); del ch["c"]
try: del ch["a"]
except KeyError as e: print(e)
Pt = namedtuple("Pt", ["x", "y"]); p = Pt(1, y=2); print(p, p.x, p[1], *p, p._asdict(), Pt._make("ab"), p._replace(y=9), p == (1, 2), isinstance(p, tuple), Pt.__name__, Pt._fields, sorted([Pt(2, 1), Pt(1, 5)]), max(Pt(1, 2)), hash(p) == hash((1, 2)), {p: 1}[(1, 2)], len(p), p + (3,), p.index(2), p.count(1), 1 in p)
class Pt3(namedtuple("Base", "x y z")):
    __slots__ = ()
    @property
    def norm(self): return (self.x ** 2 + self.y ** 2 + self.z ** 2) ** .5
    def __add__(self, o): return type(self)(*(a + b for a, b in zip(self, o)))
print(Pt3(1, 2, 2).norm, Pt3(1, 2, 3) + Pt3(1, 1, 1), Pt3(1, 2, 3)._replace(z=0))
x, y = p; print(x, y)
try: Pt(1)
except TypeError as e: print(e)
try: p.x = 5
except AttributeError as e: print(e)
od = OrderedDict.fromkeys("bca", 0); od.move_to_end("b"); od.move_to_end("a", last=False); print(od, od.popitem(), list(reversed(od)), od == OrderedDict(c=0, a=0), od | {"z": 1})
print(operator.countOf([1, 2, 1], 1), operator.indexOf([1, 2], 2), operator.truediv(1, 2), operator.mod(7, 3), operator.iadd([1], [2]), operator.lt(1, 2), operator.and_(6, 3), operator.invert(5), operator.length_hint([1, 2]))
