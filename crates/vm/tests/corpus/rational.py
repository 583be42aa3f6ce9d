from functools import total_ordering
from math import gcd


@total_ordering
class Rational:
    __slots__ = ('top', 'bottom')

    def __init__(self, top, bottom=1):
        if bottom == 0:
            raise ZeroDivisionError('Rational(%d, 0)' % top)
        if bottom < 0:
            top, bottom = -top, -bottom
        common = gcd(top, bottom)
        self.top = top // common
        self.bottom = bottom // common

    @classmethod
    def coerce(cls, value):
        return value if isinstance(value, cls) else cls(value)

    def __add__(self, other):
        if not isinstance(other, (int, Rational)):
            return NotImplemented
        other = self.coerce(other)
        return Rational(self.top * other.bottom + other.top * self.bottom, self.bottom * other.bottom)

    __radd__ = __add__

    def __neg__(self):
        return Rational(-self.top, self.bottom)

    def __sub__(self, other):
        return self + -self.coerce(other)

    def __rsub__(self, other):
        return self.coerce(other) - self

    def __mul__(self, other):
        other = self.coerce(other)
        return Rational(self.top * other.top, self.bottom * other.bottom)

    __rmul__ = __mul__

    def __truediv__(self, other):
        other = self.coerce(other)
        return Rational(self.top * other.bottom, self.bottom * other.top)

    def __rtruediv__(self, other):
        return self.coerce(other) / self

    def __pow__(self, power):
        if power < 0:
            return Rational(self.bottom ** -power, self.top ** -power)
        return Rational(self.top ** power, self.bottom ** power)

    def __eq__(self, other):
        if not isinstance(other, (int, Rational)):
            return NotImplemented
        other = self.coerce(other)
        return (self.top, self.bottom) == (other.top, other.bottom)

    def __lt__(self, other):
        other = self.coerce(other)
        return self.top * other.bottom < other.top * self.bottom

    def __hash__(self):
        return hash(self.top) if self.bottom == 1 else hash((self.top, self.bottom))

    def __float__(self):
        return self.top / self.bottom

    def __int__(self):
        return int(self.top / self.bottom)

    def __bool__(self):
        return self.top != 0

    def __abs__(self):
        return Rational(abs(self.top), self.bottom)

    def __round__(self, places=0):
        return round(float(self), places)

    def __repr__(self):
        return f'Rational({self.top}, {self.bottom})'

    def __str__(self):
        return str(self.top) if self.bottom == 1 else f'{self.top}/{self.bottom}'

    def __format__(self, spec):
        return format(str(self), spec) if not spec.endswith('f') else format(float(self), spec)


a, b = Rational(1, 2), Rational(-3, 4)
print(a + b, a - b, a * b, a / b, a ** 3, b ** -2, -a, abs(b))
print(1 + a, 2 - a, 3 * a, 1 / b, sum([a, b, a]))
print(a < b, a > b, a <= 1, a >= Rational(2, 4), a == Rational(2, 4), a != 1, a == 'x')
print(float(b), int(Rational(7, 2)), round(Rational(22, 7), 3), bool(Rational(0)), f'[{a:>6}] [{b:.3f}]')
print(max([a, b, Rational(5, 8)]), sorted([a, b, 0, Rational(1, 3)], key=float))
print({Rational(2, 4): 'half', 1: 'one'}[a], Rational(2) in {2: 0}, repr(a))
try:
    a + 'x'
except TypeError as error:
    print(error)
try:
    Rational(1, 0)
except ZeroDivisionError as error:
    print(error)
h = Rational(0)
for n in range(1, 15):
    h += Rational(1, n)
print(h, float(h))
