import itertools
from itertools import chain, combinations, count, cycle, dropwhile, groupby, islice, starmap, takewhile, tee, zip_longest


def numbers():
    n = 0
    while True:
        sent = yield n
        n = sent if sent is not None else n + 1


def windows(iterable, size):
    iterators = tee(iterable, size)
    for index, iterator in enumerate(iterators):
        next(islice(iterator, index, index), None)
    return zip(*iterators)


def flatten(tree):
    for item in tree:
        if isinstance(item, list):
            yield from flatten(item)
        else:
            yield item


def primes():
    found = []
    for n in count(2):
        if all(n % p for p in takewhile(lambda p: p * p <= n, found)):
            found.append(n)
            yield n


def averager():
    total = n = 0
    average = None
    while True:
        value = yield average
        if value is None:
            return total, n
        total += value
        n += 1
        average = total / n


def delegate(results):
    while True:
        results.append((yield from averager()))


source = numbers()
print(next(source), next(source), source.send(10), next(source))
print(list(windows(range(6), 3)), list(flatten([1, [2, [3, [4]], 5], [], [[6]]])))
print(list(islice(primes(), 15)), list(islice(dropwhile(lambda p: p < 50, primes()), 3)))
results = []
outer = delegate(results)
next(outer)
for value in (1, 2, 3, None, 10, 20, None):
    outer.send(value)
print(results)
words = 'apple avocado banana blueberry cherry clementine date'.split()
print({key: list(group) for key, group in groupby(words, key=lambda word: word[0])})
print(list(zip_longest('abc', range(5), fillvalue='-')), list(starmap(pow, [(2, 5), (3, 2)])))
print([''.join(c) for c in combinations('abcd', 2)], list(islice(cycle('xy'), 5)))
print(list(chain.from_iterable(['ab', 'cd'])), list(itertools.compress('abcdef', [1, 0, 1, 0, 1, 1])))


def cleanup(log):
    try:
        yield 1
        yield 2
    except GeneratorExit:
        log.append('exit')
        raise
    except ValueError as error:
        log.append(str(error))
        yield 'recovered'
    finally:
        log.append('finally')


log = []
g = cleanup(log)
print(next(g), g.throw(ValueError('thrown')), next(g, 'end'), log)
g = cleanup(log)
next(g)
g.close()
print(log, list(g))
lines = (line.strip() for line in ' a, 1 \n b, 2 \n\n c, x \n'.split('\n'))
rows = (line.split(', ') for line in lines if line)
print([(name, int(value)) for name, value in rows if value.isdigit()])
