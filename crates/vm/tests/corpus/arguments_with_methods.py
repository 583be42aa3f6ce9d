# Functions of the machine whose arguments have methods in Python.
import math
from fractions import Fraction


class T:
    def __init__(self, value):
        self.value = value

    def __bool__(self):
        return self.value


class S:
    def __init__(self, text='S!'):
        self.text = text

    def __str__(self):
        return self.text


class H:
    def __init__(self, x):
        self.x = x

    def __hash__(self):
        return self.x

    def __eq__(self, other):
        return isinstance(other, H) and self.x == other.x

    def __lt__(self, other):
        return self.x < other.x

    def __add__(self, other):
        return H(self.x + other.x)

    def __radd__(self, other):
        return H(self.x + other)

    def __repr__(self):
        return 'H%d' % self.x

    def __index__(self):
        return self.x


def shown(action):
    try:
        print(action())
    except Exception as error:
        print(type(error).__name__, error)


print(math.prod([Fraction(1, 2), Fraction(1, 3), 5]), math.prod(iter([Fraction(1, 2), 3])), math.prod([2, 3], start=Fraction(1, 6)))
print(math.prod([]), math.prod([2, 2.5]), math.prod(iter([2, 3])), math.prod([3], start=2))
print((5).to_bytes(2, 'big', signed=T(True)), (-5).to_bytes(2, 'little', signed=T(True)), (5).to_bytes(H(2), 'big'))
print(int.from_bytes(b'\xff\xfe', 'big', signed=T(True)), int.from_bytes(b'\xff\xfe', 'big', signed=T(False)))
shown(lambda: 'a\nb'.splitlines(T(True)))
shown(lambda: 'a\nb'.splitlines(1))
shown(lambda: 'a\nb'.splitlines(H(1)))
shown(lambda: sorted([3, 1], reverse=T(True)))
shown(lambda: sorted([3, 1], reverse=1))
shown(lambda: sorted([3, 1], reverse=H(1)))
shown(lambda: sorted([3, 1], reverse=None))
shown(lambda: str(OSError(S(), 'x')))
shown(lambda: str(OSError(1, S())))
shown(lambda: f"{OSError(1, S('here'), S())}"[:14])
shown(lambda: str(OSError(2, 'no such thing', 'name')))
shown(lambda: str(ValueError(S())))
shown(lambda: str(ValueError(S(), H(1)))[-4:])
shown(lambda: [1, 2].index(H(7)))
shown(lambda: (1, 2).index(H(7)))
shown(lambda: ascii(H(1)) + ascii('é'))
# What was taken from an iterator is not lost where methods in Python are needed.
h = [H(2), H(1)]
print(sorted(set(iter(h))), sorted(frozenset(iter(h))), sorted(set(zip(h, h))), sorted(set(reversed(h))))
print(sorted({H(3)}.union(iter(h))), {H(3)}.isdisjoint(iter(h)), {H(1)}.issuperset(iter(h)), {H(1), H(2), H(3)}.issuperset(iter(h)))
print(sorted({H(3)}.union(iter(h), iter([H(5)]))), sorted({H(1), H(3)}.intersection(iter(h), reversed(h))), sorted({H(1), H(3)}.difference(iter(h), iter(h))))
made = {H(9)}
made.update(iter(h), reversed([H(8)]))
print(sorted(made))
print(bytes(iter(h)), bytearray(reversed(h)), dict.fromkeys(iter(h)), dict(zip(h, h)))
print(math.fsum(iter([1, 2])), max(iter(h)), sum(iter(h)), ' '.join(iter(['a', 'b'])))
it = iter(h)
print(H(2) in it, list(it))
it = iter([1, 2, 3, 4, 5])
try:
    a, b = it
except ValueError as error:
    print(error, list(it))
it = zip('abcd', 'efgh')
try:
    (a, b), = it
except ValueError as error:
    print(error, list(it))


def count():
    n = 0
    while True:
        n += 1
        yield n


it = count()
try:
    a, b = it
except ValueError as error:
    print(error, next(it))
a, b = iter('xy')
print(a, b)
(a,), [b, *c] = iter([(1,), map(str, [2, 3])])
print(a, b, c)
try:
    a, b, c = iter([1])
except ValueError as error:
    print(error)
try:
    a, b = (x for x in 'a')
except ValueError as error:
    print(error)
() = iter([])


class Endless:
    def __init__(self):
        self.asked = 0

    def __iter__(self):
        return self

    def __next__(self):
        self.asked += 1
        return self.asked


endless = Endless()
try:
    a, b, c = endless
except ValueError as error:
    print(error, endless.asked)
