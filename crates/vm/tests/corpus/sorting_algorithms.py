from functools import cmp_to_key
from operator import attrgetter, itemgetter, methodcaller


class Random:
    def __init__(self, seed):
        self.state = seed

    def next(self, below):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) % below


def bubble(items):
    items = items[:]
    for end in range(len(items) - 1, 0, -1):
        swapped = False
        for i in range(end):
            if items[i] > items[i + 1]:
                items[i], items[i + 1] = items[i + 1], items[i]
                swapped = True
        if not swapped:
            break
    return items


def insertion(items):
    items = items[:]
    for i in range(1, len(items)):
        item, j = items[i], i - 1
        while j >= 0 and items[j] > item:
            items[j + 1] = items[j]
            j -= 1
        items[j + 1] = item
    return items


def merge(items):
    if len(items) < 2:
        return items
    middle = len(items) // 2
    a, b = merge(items[:middle]), merge(items[middle:])
    out = []
    while a and b:
        out.append((a if a[0] <= b[0] else b).pop(0))
    return out + a + b


def quick(items):
    if len(items) < 2:
        return items
    pivot = items[len(items) // 2]
    return quick([x for x in items if x < pivot]) + [x for x in items if x == pivot] + quick([x for x in items if x > pivot])


def heap(items):
    items = items[:]

    def sift(root, end):
        while (child := 2 * root + 1) < end:
            if child + 1 < end and items[child] < items[child + 1]:
                child += 1
            if items[root] >= items[child]:
                return
            items[root], items[child] = items[child], items[root]
            root = child

    for root in reversed(range(len(items) // 2)):
        sift(root, len(items))
    for end in range(len(items) - 1, 0, -1):
        items[0], items[end] = items[end], items[0]
        sift(0, end)
    return items


def radix(items):
    for shift in range(0, 16, 4):
        buckets = [[] for _ in range(16)]
        for item in items:
            buckets[item >> shift & 15].append(item)
        items = [item for bucket in buckets for item in bucket]
    return items


def shell(items):
    items, gap = items[:], len(items) // 2
    while gap:
        for i in range(gap, len(items)):
            for j in range(i, gap - 1, -gap):
                if items[j - gap] <= items[j]:
                    break
                items[j], items[j - gap] = items[j - gap], items[j]
        gap //= 2
    return items


random = Random(42)
data = [random.next(1000) for _ in range(60)]
expected = sorted(data)
for sort in (bubble, insertion, merge, quick, heap, radix, shell):
    print(sort.__name__, sort(data) == expected, sort([]) == [], sort([1]) == [1])
records = [('bob', 30, 'x'), ('ann', 25, 'y'), ('cid', 30, 'a'), ('dan', 25, 'b')]
print(sorted(records, key=itemgetter(1)), sorted(records, key=itemgetter(1, 2), reverse=True))
print(sorted(records, key=lambda r: (-r[1], r[0])), sorted('banana split'.split(), key=methodcaller('count', 'a')))
print(sorted([3, 1, 2], key=cmp_to_key(lambda a, b: b - a)), sorted(['b', 'A', 'c'], key=str.lower), max(records, key=itemgetter(0)))
numbers = [5, 2, 9]
numbers.sort(reverse=True)
print(numbers, sorted({3: 'c', 1: 'a'}), sorted('hello'), sorted([(2, 'b'), (1, 'z'), (2, 'a')]), sorted([True, 0, 2.5, -1]))
try:
    sorted([1, 'a'])
except TypeError as error:
    print(error)
print(attrgetter('real', 'imag')(5), list(map(itemgetter('k'), [{'k': 1}, {'k': 2}])))
