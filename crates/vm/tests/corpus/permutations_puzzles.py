from itertools import combinations, combinations_with_replacement, permutations, product
from math import factorial


def my_permutations(items):
    if not items:
        yield []
    for i, item in enumerate(items):
        for rest in my_permutations(items[:i] + items[i + 1:]):
            yield [item] + rest


def next_permutation(items):
    i = len(items) - 2
    while i >= 0 and items[i] >= items[i + 1]:
        i -= 1
    if i < 0:
        return False
    j = len(items) - 1
    while items[j] <= items[i]:
        j -= 1
    items[i], items[j] = items[j], items[i]
    items[i + 1:] = reversed(items[i + 1:])
    return True


def powerset(items):
    return [[x for i, x in enumerate(items) if mask >> i & 1] for mask in range(1 << len(items))]


def partitions(n, most=None):
    most = most or n
    if n == 0:
        yield []
    for first in range(min(n, most), 0, -1):
        for rest in partitions(n - first, first):
            yield [first] + rest


def cryptarithm(a, b, c):
    letters = sorted(set(a + b + c))
    leading = {word[0] for word in (a, b, c)}
    for digits in permutations(range(8), len(letters)):
        table = dict(zip(letters, digits))
        if any(table[letter] == 0 for letter in leading):
            continue
        value = lambda word: int(''.join(str(table[letter]) for letter in word))
        if value(a) + value(b) == value(c):
            return table


def hanoi(n, a='A', b='B', c='C'):
    if n:
        yield from hanoi(n - 1, a, c, b)
        yield a + c
        yield from hanoi(n - 1, b, a, c)


def gray(n):
    return [format(i ^ i >> 1, f'0{n}b') for i in range(1 << n)]


print(list(map(''.join, permutations('abc'))), [''.join(p) for p in my_permutations(list('abc'))])
print(len(list(permutations(range(5)))) == factorial(5), list(combinations_with_replacement('ab', 2)), list(permutations('ab', 1)))
items = [1, 2, 3]
seen = [items[:]]
while next_permutation(items):
    seen.append(items[:])
print(seen == [list(p) for p in permutations([1, 2, 3])], powerset('xyz'))
print(list(partitions(5)), sum(1 for _ in partitions(15)))
print(cryptarithm('TO', 'GO', 'OUT'))
print(list(hanoi(3)), len(list(hanoi(8))), gray(3))
print([''.join(map(str, p)) for p in product((0, 1), repeat=3) if sum(p) == 2], list(combinations([1, 2, 3, 4], 3)))
queens = [p for p in permutations(range(5)) if len({i + q for i, q in enumerate(p)}) == len({i - q for i, q in enumerate(p)}) == 5]
print(len(queens), queens[0])
