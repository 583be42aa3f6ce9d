import itertools as it, functools as ft, collections as co, operator as op, string, math, json, copy
print(list(it.chain('ab', [1])), list(it.islice(it.count(5, 2), 4)), list(it.repeat('x', 3)), list(it.islice('abcdef', 1, 5, 2)))
print(list(it.zip_longest('ab', 'c', fillvalue=0)), list(it.takewhile(str.isalpha, 'ab1c')), list(it.dropwhile(str.isalpha, 'ab1c')), list(it.filterfalse(str.isalpha, 'a1b2')))
print(list(it.accumulate([1, 2, 3], initial=10)), list(it.pairwise('abcd')), list(it.product([1, 2], 'ab')), list(it.permutations([1, 2, 3], 2))[:3], list(it.combinations('abc', 2)))
print([(k, list(g)) for k, g in it.groupby([1, 1, 2, 3, 3], lambda x: x % 2)], [list(x) for x in it.tee([1, 2])], list(it.starmap(max, [(1, 2), (4, 3)])), list(it.compress('abc', [1, 0, 1])))
print(ft.reduce(op.add, [1, 2, 3]), ft.partial(pow, 2)(5), ft.reduce(lambda a, b: a * b, range(1, 6)))
@ft.total_ordering
class V:
    def __init__(s, v): s.v = v
    def __eq__(s, o): return s.v == o.v
    def __lt__(s, o): return s.v < o.v
print(V(1) <= V(2), V(2) >= V(3), V(1) > V(0), max(V(1), V(5)).v)
print(op.itemgetter(1, 2)([1, 2, 3]), op.attrgetter('v')(V(3)), op.methodcaller('split', ',')('a,b'), op.mul(2, 3), op.neg(1), op.truth([]), op.getitem([1, 2], 1), op.index(5), op.xor(5, 1), op.concat([1], [2]))
print(string.ascii_lowercase, string.digits, string.punctuation, string.hexdigits, string.capwords('hello big world'), string.whitespace == ' \t\n\r\x0b\x0c')
print(math.floor(2.7), math.ceil(-2.7), math.sqrt(16), math.log(1), math.exp(0), math.sin(0), math.cos(0), math.pow(2, 3), math.fabs(-2), math.gcd(8, 12), math.lcm(4, 6), math.isfinite(1e308), math.log2(8), math.log10(1000), math.radians(180) == math.pi, math.dist((0, 0), (3, 4)), math.sumprod([1, 2], [3, 4]) if hasattr(math, 'sumprod') else 11)
for bad in (lambda: math.sqrt(-1), lambda: math.log(0), lambda: math.factorial(-1), lambda: math.factorial(1.5), lambda: math.isqrt(-1), lambda: math.comb(-1, 2), lambda: math.exp(1000), lambda: math.acos(2)):
    try: print(bad())
    except Exception as e: print(type(e).__name__, e)
a = [[1, 2], {'k': (3, [4])}]
b = copy.deepcopy(a); b[1]['k'][1].append(5); c = copy.copy(a); c[0].append(9)
print(a, b, c, a == c)
class Node:
    def __init__(s): s.me = s; s.items = [1]
    def __copy__(s): n = Node(); n.items = ['copied']; return n
n = copy.deepcopy(Node()); print(n.me is n, copy.copy(Node()).items)
print(sorted({'b': 1, 'a': 2}.items()), sorted([(1, 'b'), (1, 'a')]), sorted('bca', reverse=True), sorted([3, -1, 2], key=abs), min('hello'), max([1, 5, 3], default=0), max([], default='none'), min(3, 1, 2), sum([[1], [2]], []), sum((0.1, 0.2)), abs(-3), divmod(7, 3), pow(3, 4, 5), round(2.567, 2))
print(list(zip([1, 2, 3], 'ab')), list(map(lambda x, y: x + y, [1, 2], [10, 20])), list(filter(lambda x: x > 1, [1, 2, 3])), any([0, '', 1]), all([]), list(reversed('abc')), list(enumerate('ab', 1)), bin(10), oct(8), hex(255), chr(97), ord('a'), ascii('ñ'), repr('x'), str(1.0), int('12'), float('1.5'), bool('x'), list('ab'), tuple([1]), set([1, 1]), frozenset('a'), dict(a=1), complex if False else '')
print(isinstance(1, (str, int)), issubclass(bool, int), callable(len), id if False else '', type(3.5).__name__, hash(1) == 1, len({1, 2}), iter([1]).__class__.__name__ != '', next(iter([5])), slice(1, 5, 2).indices(4), range(0, 10, 3)[2], list(range(10, 0, -3)), 5 in range(0, 10, 5), len(range(3, 10, 2)), range(3) == range(0, 3), range(5)[1:3])
print(eval_no if False else 'x', vars(V(1)), [x for x in dir([]) if x.startswith('ap')], print('a', 'b', sep='', end='|'), format(3.14159, '.2f'), '{:>5}'.format('x'), input_no if False else '')
