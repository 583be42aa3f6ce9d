from functools import cache
from itertools import accumulate, product


def lcs(a, b):
    table = [[''] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            table[i + 1][j + 1] = table[i][j] + x if x == y else max(table[i + 1][j], table[i][j + 1], key=len)
    return table[-1][-1]


def edit_distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        previous, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (x != y))
    return row[-1]


def knapsack(items, capacity):
    best = [(0, ())] * (capacity + 1)
    for name, weight, value in items:
        for room in range(capacity, weight - 1, -1):
            candidate = best[room - weight][0] + value, best[room - weight][1] + (name,)
            best[room] = max(best[room], candidate)
    return best[capacity]


@cache
def coins(amount, kinds):
    if amount == 0:
        return 1
    if amount < 0 or not kinds:
        return 0
    return coins(amount - kinds[0], kinds) + coins(amount, kinds[1:])


def increasing(numbers):
    tails, links = [], {}
    for n in numbers:
        at = sum(t < n for t in tails)
        links[n] = tails[at - 1] if at else None
        tails[at:at + 1] = [n]
    out, n = [], tails[-1]
    while n is not None:
        out.append(n)
        n = links[n]
    return out[::-1]


def best_slice(numbers):
    best = current = numbers[0]
    for n in numbers[1:]:
        current = max(n, current + n)
        best = max(best, current)
    return best


print(lcs('nematode knowledge', 'empty bottle'), edit_distance('kitten', 'sitting'), edit_distance('', 'abc'))
print(knapsack([('map', 9, 150), ('compass', 13, 35), ('water', 153, 200), ('sandwich', 50, 160), ('glucose', 15, 60), ('tin', 68, 45)], 200))
print(coins(100, (50, 25, 10, 5, 1)), coins(7, (3, 2)))
print(increasing([10, 9, 2, 5, 3, 7, 101, 18]), best_slice([-2, 1, -3, 4, -1, 2, 1, -5, 4]))
print(list(accumulate([3, 1, 4, 1, 5, 9], max)), list(accumulate(range(1, 6), lambda a, b: a * b)))
print([''.join(p) for p in product('ab', repeat=2)])


def catalan(n):
    row = [1]
    for i in range(n):
        row.append(row[-1] * 2 * (2 * i + 1) // (i + 2))
    return row


print(catalan(20), catalan(100)[-1])
