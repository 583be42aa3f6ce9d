import math as _math


class Fraction:
    __slots__ = ('_numerator', '_denominator')

    def __new__(cls, numerator=0, denominator=None):
        self = object.__new__(cls)
        if denominator is None:
            if isinstance(numerator, Fraction):
                top, below = numerator._numerator, numerator._denominator
            elif isinstance(numerator, int):
                top, below = int(numerator), 1
            elif isinstance(numerator, float):
                top, below = numerator.as_integer_ratio()
            elif isinstance(numerator, str):
                top, below = _read(numerator)
            elif hasattr(numerator, 'as_integer_ratio'):
                top, below = numerator.as_integer_ratio()
            else:
                raise TypeError('argument should be a string or a Rational instance')
        elif isinstance(numerator, (int, Fraction)) and isinstance(denominator, (int, Fraction)):
            top = numerator.numerator * denominator.denominator
            below = numerator.denominator * denominator.numerator
        else:
            raise TypeError('both arguments should be Rational instances')
        if below == 0:
            raise ZeroDivisionError('Fraction(' + str(numerator) + ', 0)')
        common = _math.gcd(top, below)
        if below < 0:
            common = -common
        object.__setattr__(self, '_numerator', top // common)
        object.__setattr__(self, '_denominator', below // common)
        return self

    @classmethod
    def from_float(cls, f):
        return cls(f)

    @property
    def numerator(self):
        return self._numerator

    @property
    def denominator(self):
        return self._denominator

    def as_integer_ratio(self):
        return self._numerator, self._denominator

    def limit_denominator(self, max_denominator=1000000):
        if max_denominator < 1:
            raise ValueError('max_denominator should be at least 1')
        if self._denominator <= max_denominator:
            return Fraction(self)
        p0, q0, p1, q1 = 0, 1, 1, 0
        n, d = self._numerator, self._denominator
        while True:
            a = n // d
            q2 = q0 + a * q1
            if q2 > max_denominator:
                break
            p0, q0, p1, q1 = p1, q1, p0 + a * p1, q2
            n, d = d, n - a * d
        k = (max_denominator - q0) // q1
        lower, upper = Fraction(p0 + k * p1, q0 + k * q1), Fraction(p1, q1)
        return upper if abs(upper - self) <= abs(lower - self) else lower

    def __repr__(self):
        return 'Fraction(' + str(self._numerator) + ', ' + str(self._denominator) + ')'

    def __str__(self):
        if self._denominator == 1:
            return str(self._numerator)
        return str(self._numerator) + '/' + str(self._denominator)

    def __hash__(self):
        # Numbers hash to their value modulo this prime; a denominator that it divides has no inverse.
        prime = (1 << 61) - 1
        if self._denominator % prime == 0:
            result = 314159
        else:
            result = abs(self._numerator) % prime * pow(self._denominator, -1, prime) % prime
        return result if self._numerator >= 0 else -result

    def _operate(self, other, exact, inexact, swapped):
        if isinstance(other, int):
            other = Fraction(other)
        if isinstance(other, Fraction):
            return exact(other, self) if swapped else exact(self, other)
        if isinstance(other, float):
            return inexact(other, float(self)) if swapped else inexact(float(self), other)
        return NotImplemented

    def __add__(self, other): return self._operate(other, _add, lambda a, b: a + b, False)
    def __radd__(self, other): return self._operate(other, _add, lambda a, b: a + b, True)
    def __sub__(self, other): return self._operate(other, _sub, lambda a, b: a - b, False)
    def __rsub__(self, other): return self._operate(other, _sub, lambda a, b: a - b, True)
    def __mul__(self, other): return self._operate(other, _mul, lambda a, b: a * b, False)
    def __rmul__(self, other): return self._operate(other, _mul, lambda a, b: a * b, True)
    def __truediv__(self, other): return self._operate(other, _div, lambda a, b: a / b, False)
    def __rtruediv__(self, other): return self._operate(other, _div, lambda a, b: a / b, True)
    def __floordiv__(self, other): return self._operate(other, _floor, lambda a, b: a // b, False)
    def __rfloordiv__(self, other): return self._operate(other, _floor, lambda a, b: a // b, True)
    def __mod__(self, other): return self._operate(other, _mod, lambda a, b: a % b, False)
    def __rmod__(self, other): return self._operate(other, _mod, lambda a, b: a % b, True)

    def __divmod__(self, other):
        return self // other, self % other

    def __rdivmod__(self, other):
        return other // self, other % self

    def __pow__(self, power):
        if isinstance(power, Fraction) and power._denominator == 1:
            power = power._numerator
        if isinstance(power, int):
            if power >= 0:
                return Fraction(self._numerator ** power, self._denominator ** power)
            if self._numerator == 0:
                raise ZeroDivisionError('Fraction(' + str(self._denominator ** -power) + ', 0)')
            return Fraction(self._denominator ** -power, self._numerator ** -power)
        return float(self) ** (float(power) if isinstance(power, Fraction) else power)

    def __rpow__(self, base):
        if self._denominator == 1 and self._numerator >= 0:
            return base ** self._numerator
        return base ** float(self)

    def __neg__(self): return Fraction(-self._numerator, self._denominator)
    def __pos__(self): return Fraction(self)
    def __abs__(self): return Fraction(abs(self._numerator), self._denominator)
    def __bool__(self): return self._numerator != 0
    def __float__(self): return self._numerator / self._denominator
    def __int__(self): return self.__trunc__()
    def __floor__(self): return self._numerator // self._denominator
    def __ceil__(self): return -(-self._numerator // self._denominator)

    def __trunc__(self):
        return -(-self._numerator // self._denominator) if self._numerator < 0 else self._numerator // self._denominator

    def __round__(self, ndigits=None):
        if ndigits is None:
            floor, rest = divmod(self._numerator, self._denominator)
            twice = rest * 2
            return floor if twice < self._denominator or twice == self._denominator and floor % 2 == 0 else floor + 1
        shift = 10 ** abs(ndigits)
        return Fraction(round(self * shift), shift) if ndigits > 0 else Fraction(round(self / shift) * shift)

    def __eq__(self, other):
        if isinstance(other, int):
            return self._denominator == 1 and self._numerator == other
        if isinstance(other, Fraction):
            return self._numerator == other._numerator and self._denominator == other._denominator
        if isinstance(other, float):
            if other != other or other in (_math.inf, -_math.inf):
                return False
            return self == Fraction(other)
        return NotImplemented

    def _order(self, other, decide):
        if isinstance(other, float):
            if other != other or other in (_math.inf, -_math.inf):
                return decide(0.0, other)
            other = Fraction(other)
        if isinstance(other, (int, Fraction)):
            return decide(self._numerator * other.denominator, other.numerator * self._denominator)
        return NotImplemented

    def __lt__(self, other): return self._order(other, lambda a, b: a < b)
    def __le__(self, other): return self._order(other, lambda a, b: a <= b)
    def __gt__(self, other): return self._order(other, lambda a, b: a > b)
    def __ge__(self, other): return self._order(other, lambda a, b: a >= b)


def _add(a, b):
    return Fraction(a._numerator * b._denominator + b._numerator * a._denominator, a._denominator * b._denominator)


def _sub(a, b):
    return Fraction(a._numerator * b._denominator - b._numerator * a._denominator, a._denominator * b._denominator)


def _mul(a, b):
    return Fraction(a._numerator * b._numerator, a._denominator * b._denominator)


def _div(a, b):
    if b._numerator == 0:
        raise ZeroDivisionError('Fraction(' + str(a._numerator * b._denominator) + ', 0)')
    return Fraction(a._numerator * b._denominator, a._denominator * b._numerator)


def _floor(a, b):
    return a._numerator * b._denominator // (a._denominator * b._numerator)


def _mod(a, b):
    below = a._denominator * b._denominator
    return Fraction(a._numerator * b._denominator % (b._numerator * a._denominator), below)


def _read(text):
    # '3/4', '-1.25', '2e-3'
    shown = repr(text)
    text = text.strip()
    sign = 1
    if text[:1] in ('+', '-'):
        sign = -1 if text[0] == '-' else 1
        text = text[1:]
    top, slash, below = text.partition('/')
    if slash:
        if not (top.isdigit() and below.isdigit()):
            raise ValueError('Invalid literal for Fraction: ' + shown)
        return sign * int(top), int(below)
    number, _, power = text.lower().partition('e')
    whole, _, rest = number.partition('.')
    digits = whole + rest
    magnitude = power[1:] if power[:1] in ('+', '-') else power
    if not digits.isdigit() or (power or text.lower().endswith('e')) and not magnitude.isdigit():
        raise ValueError('Invalid literal for Fraction: ' + shown)
    shift = (int(power) if power else 0) - len(rest)
    if shift >= 0:
        return sign * int(digits) * 10 ** shift, 1
    return sign * int(digits), 10 ** -shift
