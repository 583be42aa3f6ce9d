# The order of sets where CPython's does not change from run to run.
from fractions import Fraction
print({(1, 2), (3, 4), (0, 0), (5, 1)})
print({(x, y) for x in range(2) for y in range(2)})
print({1.5, 2.5, 0.1}, {10**20, 2**64, -1}, {2**100, 3**80, -2**70}, {-0.5, 1e300, 5e-324, float('inf')})
a, b = {177, 198, 0, 92, 74}, {65, 32, 3, 146, 190}
print(set([177, 198, 0, 92, 74]).copy())
print({82, 98, 54, 72} ^ set(), set({82, 98, 54, 72}))
print(set() | set([65, 32, 3, 146, 190]))
print({1, 2, 3} | {48, 68})
print({112, 198, 114, 46} - {91, 171, 54})
print(set({177: 0, 198: 0, 0: 0, 92: 0, 74: 0}))
s = {24, 45}
for x in (82, 134, 152, 154):
    s.add(x)
s.remove(24)
s.add(24)
print(s)
s = {7, 26, 134, 28, 18, 2, 59}
print([s.pop() for _ in range(3)], s)
s.add(1000)
s.add(3)
print([s.pop() for _ in range(3)], s)
s.clear()
for x in range(64, 0, -7):
    s.add(x)
print(s.pop(), s)

# Displays that are constants: equal ones are one, and loops walk over what others copy.
print({8, 0, 16}, {0, 16, 8}, {16, 8, 0}, {8, 0, 16.0}, {8, 0})
def again():
    return {16, 0, 8}
print(again(), [x for x in {0, 16, 8, 24, 32}], {0, 16, 8, 24, 32})
for x in {40, 0, 16, 8, 24, 32}:
    print(x, end=' ')
print({40, 0, 16, 8, 24, 32}, 7 in {7, 71, 135}, {135, 71, 7})
print({1, 2 + 1, -1, 10**20, (1, 2), (3, (4, -5)), 2**0.5}, {1, 1.0, True, 8, 0}, {True, 1, 2}, {2**100, 8, 0})
n = 16
print({8, 0, n}, {*[8, 0], 16}, {*{8, 0, n}, *{1, 9, 17}})

# Hashes that the order follows from.
print(hash((1, 2)), hash(()), hash((-1, (2.5, (True,)))), hash(frozenset([1, 2, (3,)])), hash(frozenset()))
print(hash(range(5)), hash(range(0, 10, 3)), hash(2.5), hash(-0.5), hash(1e300), hash(5e-324), hash(2**61), hash(Fraction(-7, 3)))
print({frozenset([1, 2]), frozenset([3]), frozenset()}, {range(3), range(2, 9), range(5, 0, -1)})
print({Fraction(1, 3), Fraction(5, 7), Fraction(1, 2), 3}, hash(Fraction(1, (1 << 61) - 1)))
class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y
    def __hash__(self):
        return hash((self.x, self.y))
    def __eq__(self, other):
        return (self.x, self.y) == (other.x, other.y)
    def __repr__(self):
        return f'P({self.x}, {self.y})'
class Large:
    def __init__(self, value):
        self.value = value
    def __hash__(self):
        return self.value
print(hash(Large(-1)), hash(Large(2**62)), hash(Large(2**64)), hash((Large(5), 2)) == hash((5, 2)), hash(frozenset([Large(7)])) == hash(frozenset([7])))
points = {Point(x, y) for x in range(3) for y in range(3)}
print(points, points - {Point(1, 1)}, points ^ {Point(0, 0), Point(9, 9)}, points & {Point(2, 2), Point(0, 1)}, points | {Point(7, 7)})
points -= {Point(0, 0)}
points |= {Point(5, 5), Point(2, 2)}
points ^= {Point(5, 5), Point(6, 6)}
points &= {Point(x, x) for x in range(9)}
print(points, points.union([Point(2, 2), Point(3, 3)]), {(Point(1, 2), 3), (Point(3, 4), 5)})

# Flood over a grid: sets of places that grow and shrink.
frontier, seen = {(0, 0)}, set()
while frontier and len(seen) < 60:
    place = frontier.pop()
    seen.add(place)
    x, y = place
    frontier |= {(x + 1, y), (x, y + 1), (x - 1, y), (x, y - 1)} - seen
print(frontier)
print(seen)
d = {(x, x * x % 7): x for x in range(9)}
print(d.keys() - {(0, 0)}, d.keys() & {(1, 1), (2, 4), (9, 9)}, d.keys() | {(1, 1)}, d.keys() ^ {(1, 1), (5, 5)}, set(d.items()))
big = set(range(0, 4000, 3)) - set(range(0, 4000, 7))
print(sum(i * x for i, x in enumerate(big)) % 1000003, sum(i * x for i, x in enumerate(big | set(range(50)))) % 1000003)
