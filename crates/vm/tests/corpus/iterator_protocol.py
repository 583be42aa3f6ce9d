class Countdown:
    def __init__(self, start):
        self.start = start

    def __iter__(self):
        return CountdownIterator(self.start)

    def __reversed__(self):
        return iter(range(1, self.start + 1))

    def __len__(self):
        return self.start

    def __contains__(self, n):
        return 0 < n <= self.start


class CountdownIterator:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        if self.n <= 0:
            raise StopIteration
        self.n -= 1
        return self.n + 1


class Pages:
    def __getitem__(self, index):
        if index >= 4:
            raise IndexError(index)
        return f'page {index}'


c = Countdown(4)
print(list(c), tuple(c), set(c) == {1, 2, 3, 4}, sorted(c), sum(c), max(c), min(c), len(c), 3 in c, 9 in c, list(reversed(c)))
print([*c], dict(zip(c, 'abcd')), list(enumerate(c, 10)), list(map(str, c)), ' '.join(map(str, c)), any(c), all(c))
a, *b = c
print(a, b, list(Pages()), 'page 2' in Pages(), list(zip(Pages(), c)), sorted(Pages(), reverse=True)[0])
it = iter(c)
print(next(it), next(it), list(it), next(it, 'end'), list(it))
x, y, z, w = c
print(x, y, z, w, [p for p in zip(*[iter(c)] * 2)])
calls = []
values = iter(lambda: calls.append(1) or len(calls), 4)
print(list(values), len(calls))
try:
    p, q = c
except ValueError as error:
    print(error)
try:
    iter(5)
except TypeError as error:
    print(error)
try:
    next([])
except TypeError as error:
    print(error)


def counted(iterable):
    counted.n = 0
    for item in iterable:
        counted.n += 1
        yield item


source = counted(range(100))
print(any(n > 5 for n in source), counted.n, next(source), 20 in source, next(source))
d = {'a': 1, 'b': 2, 'c': 3}
for key in list(d):
    if key == 'b':
        del d[key]
try:
    for key in d:
        d[key + 'x'] = 0
except RuntimeError as error:
    print(error)
print(list(d.items()), list(d.keys() & {'a', 'z'}), sorted(d.keys() | {'q'}), list(reversed(d)))
e = iter([1, 2, 3])
for item in e:
    print(item, list(e))
print(list(filter(lambda n: n % 2, c)), list(zip(c, c)), list(zip()), list(map(lambda *a: a, c, 'xy')))
