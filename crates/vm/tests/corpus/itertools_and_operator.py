from itertools import *
import itertools, operator
print(list(chain([1], 'ab')), list(chain.from_iterable([[1], [2]])), list(islice(count(5, 2), 3)), list(islice(cycle('ab'), 5)), list(repeat(1, 3)), list(accumulate([1, 2, 3])), list(accumulate([1, 2, 3], operator.mul)), list(accumulate([1, 2], initial=10)), list(accumulate([3, 1, 2], max)))
print(list(product('ab', [1, 2])), list(product([0, 1], repeat=2)), list(permutations([1, 2, 3], 2)), list(combinations('abc', 2)), list(combinations_with_replacement('ab', 2)), list(permutations('ab')))
print(list(takewhile(lambda x: x < 3, [1, 2, 5, 1])), list(dropwhile(lambda x: x < 3, [1, 2, 5, 1])), list(filterfalse(lambda x: x % 2, range(5))), list(compress('abc', [1, 0, 1])), list(starmap(pow, [(2, 3), (3, 2)])), list(zip_longest('ab', [1], fillvalue='-')), list(pairwise([1, 2, 3])))
for k, g in groupby('aaabbc'): print(k, list(g), end=' ')
print([(k, [x for x in g]) for k, g in groupby(sorted(['apple', 'bob', 'avocado', 'bar'], key=lambda s: s[0]), key=lambda s: s[0])])
a, b = tee([1, 2, 3]); print(list(a), list(b), list(islice('abcdef', 1, None, 2)), list(islice('abc', 0)), next(count()), list(zip(count(), 'ab')), list(islice(count(0.5, 0.5), 3)))
print(sum(1 for _ in combinations(range(10), 3)), len(list(product(range(3), repeat=3))), list(map(operator.add, [1, 2], [3, 4])))
for f in (lambda: list(islice([1], -1)), lambda: list(combinations('ab', -1)), lambda: list(repeat(1, 'a')), lambda: list(starmap(pow, [1])), lambda: next(chain())):
    try: print(f())
    except Exception as e: print(type(e).__name__)
from operator import *
print(itemgetter(1)([1, 2]), itemgetter(0, 1)('ab'), attrgetter('real')(5), methodcaller('upper')('a'), add(1, 2), contains([1], 1), getitem({'a': 1}, 'a'), itemgetter('x')({'x': 9}), sorted([(2, 'a'), (1, 'b')], key=itemgetter(1)), mul(2, 3), neg(1), concat([1], [2]), countOf([1, 1, 2], 1), indexOf([5, 6], 6), truth([]), iadd(1, 2), matmul if False else '')
import functools
print(functools.reduce(operator.xor, [1, 2, 3]), functools.reduce(lambda a, b: a * 10 + b, [1, 2, 3]), list(map(functools.partial(pow, 2), range(4))))
it = iter('abc'); print(list(zip(it, it)), list(it))
print(list(zip(*[[1, 2], [3, 4]])), dict(zip('ab', range(2))), list(map(None, [])) if False else '', [*map(str, range(3))], [*filter(lambda x: x > 1, [1, 2, 3])], list(reversed(range(3))), list(reversed('abc')), sorted('bca', reverse=True), sorted({'b': 1, 'a': 2}), list(enumerate(['x'], 1)))
print(min([3, 1, 2], key=lambda x: -x), max('apple', 'fig', key=len), min({'a': 2, 'b': 1}.items(), key=lambda kv: kv[1]), sum(x * x for x in range(4)), any([]), all([1, 0]), sorted([3, 1, 2], key=lambda x: -x), sorted(['b', 'a', 'C'], key=str.lower), list(dict.fromkeys('abcab')), sorted([(1, 'b'), (1, 'a')]), sorted('hello', key='lohe'.index))
