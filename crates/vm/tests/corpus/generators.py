def countdown(n):
    while n:
        got = yield n
        if got:
            n = got
        n -= 1
    return "done"

def delegating():
    result = yield from countdown(3)
    print("result", result)
    yield from [10, 20]
    yield from (x * x for x in range(3))

print(list(delegating()))
g = countdown(5)
print(next(g), g.send(10), next(g))

def reader():
    try:
        while True:
            try:
                item = yield
                print("item", item)
            except ValueError as error:
                print("handled", error)
    finally:
        print("closed")

r = reader()
next(r)
r.send(1)
r.throw(ValueError("bad"))
r.send(2)
r.close()
try:
    next(r)
except StopIteration:
    print("stopped")

def tree(n):
    if n:
        yield from tree(n - 1)
        yield n
        yield from tree(n - 1)
print(list(tree(4)))

def fibs():
    a, b = 0, 1
    while True:
        yield a
        a, b = b, a + b
from itertools import islice, takewhile, count, chain, product, permutations, combinations, groupby, accumulate, zip_longest
print(list(islice(fibs(), 15)), list(takewhile(lambda x: x < 50, fibs())))
print(list(chain([1], "ab", range(2))), list(product("ab", repeat=2)), list(permutations([1, 2, 3], 2)))
print(list(combinations("abcd", 3)), [(k, list(v)) for k, v in groupby("aabbbc")], list(accumulate([1, 2, 3, 4])))
print(list(zip_longest([1, 2], "abc", fillvalue="-")), list(zip(count(), "xyz")))
class Range:
    def __init__(self, n): self.n = n
    def __iter__(self):
        self.i = 0
        return self
    def __next__(self):
        if self.i >= self.n:
            raise StopIteration
        self.i += 1
        return self.i
print(list(Range(3)), sum(Range(4)), [x for x in Range(2)], max(Range(5)), sorted(Range(3), reverse=True), 2 in Range(3))
a, b, c = Range(3)
print(a, b, c, *Range(2), dict.fromkeys(Range(2)), set(Range(3)), ",".join(str(x) for x in Range(3)))
def bad():
    yield 1
    raise StopIteration
try:
    list(bad())
except RuntimeError as error:
    print("runtime", error)
print(any(x > 3 for x in Range(5)), all(x > 0 for x in Range(5)), tuple(map(lambda x, y: x + y, Range(3), Range(3))))
print(list(enumerate((c for c in "ab"), 1)), list(filter(None, [0, 1, "", "a"])), list(reversed([1, 2, 3])))
