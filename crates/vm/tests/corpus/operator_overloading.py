class Vector:
    def __init__(self, *parts):
        self.parts = parts

    def __repr__(self):
        return 'Vector(%s)' % ', '.join(map(repr, self.parts))

    def __eq__(self, other):
        return isinstance(other, Vector) and self.parts == other.parts

    def __add__(self, other):
        return Vector(*(a + b for a, b in zip(self.parts, other.parts, strict=True)))

    def __sub__(self, other):
        return self + -other

    def __neg__(self):
        return Vector(*(-a for a in self.parts))

    def __pos__(self):
        return self

    def __invert__(self):
        return Vector(*reversed(self.parts))

    def __mul__(self, other):
        if isinstance(other, Vector):
            return sum(a * b for a, b in zip(self.parts, other.parts))
        return Vector(*(a * other for a in self.parts))

    def __rmul__(self, other):
        return self * other

    def __matmul__(self, other):
        a, b = self.parts, other.parts
        return Vector(a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])

    def __floordiv__(self, other):
        return Vector(*(a // other for a in self.parts))

    def __mod__(self, other):
        return Vector(*(a % other for a in self.parts))

    def __divmod__(self, other):
        return self // other, self % other

    def __and__(self, other):
        return Vector(*(a & b for a, b in zip(self.parts, other.parts)))

    def __or__(self, other):
        return Vector(*self.parts, *other.parts)

    def __ror__(self, other):
        return Vector(other, *self.parts)

    def __lshift__(self, n):
        return Vector(*self.parts[n:], *self.parts[:n])

    def __rshift__(self, n):
        return self << -n

    def __iadd__(self, other):
        self.parts = tuple(a + b for a, b in zip(self.parts, other.parts))
        return self

    def __len__(self):
        return len(self.parts)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return Vector(*self.parts[index])
        return self.parts[index]

    def __contains__(self, item):
        return item in self.parts

    def __iter__(self):
        return iter(self.parts)

    def __reversed__(self):
        return Vector(*self.parts[::-1])

    def __abs__(self):
        return sum(a * a for a in self.parts) ** 0.5

    def __bool__(self):
        return any(self.parts)

    def __call__(self, function):
        return Vector(*map(function, self.parts))

    def __complex__(self):
        return None

    def __index__(self):
        return self.parts[0]

    def __hash__(self):
        return hash(self.parts)


class Number:
    def __init__(self, n):
        self.n = n

    def __index__(self):
        return self.n


a, b = Vector(1, 2, 3), Vector(4, 5, 6)
print(a + b, a - b, -a, +a, ~a, a * b, a * 2, 3 * a, a @ b, b // 2, b % 4, divmod(b, 4))
print(a & b, a | b, 0 | a, a << 1, a >> 1, len(a), a[0], a[-1], a[1:], 2 in a, 9 in a)
print(list(a), [*a, *b], reversed(a), abs(Vector(3, 4)), bool(Vector(0, 0)), a(lambda x: x * 10))
c = a
a += b
print(a, c is a, a == Vector(5, 7, 9), a != b, hash(Vector(1)) == hash(Vector(1)))
x, *rest = b
print(x, rest, max(b), sorted(~b), ['a', 'b', 'c'][Number(1)], hex(Number(255)), range(Number(3)), [1] * 2)
try:
    a + Vector(1)
except ValueError as error:
    print(error)
for expression in ('a + 1', '1 + a', 'a < b', 'a ** 2', 'a / 2', 'a ^ b'):
    try:
        match expression:
            case 'a + 1': a + 1
            case '1 + a': 1 + a
            case 'a < b': a < b
            case 'a ** 2': a ** 2
            case 'a / 2': a / 2
            case _: a ^ b
    except (TypeError, AttributeError) as error:
        print(expression, type(error).__name__, error)
