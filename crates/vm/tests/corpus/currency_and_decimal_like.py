class Fixed:
    PLACES = 4
    UNIT = 10 ** PLACES

    def __init__(self, value=0):
        if isinstance(value, Fixed):
            self.raw = value.raw
        elif isinstance(value, int):
            self.raw = value * self.UNIT
        elif isinstance(value, str):
            sign = -1 if value.startswith('-') else 1
            whole, _, part = value.lstrip('+-').partition('.')
            if not (whole + part).isdigit() or len(part) > self.PLACES:
                raise ValueError(f'not a fixed number: {value!r}')
            self.raw = sign * (int(whole or '0') * self.UNIT + int(part.ljust(self.PLACES, '0') or '0'))
        else:
            raise TypeError(f'cannot make Fixed of {type(value).__name__}')

    @classmethod
    def of(cls, raw):
        made = cls()
        made.raw = raw
        return made

    def __add__(self, other):
        return Fixed.of(self.raw + Fixed(other).raw)

    def __sub__(self, other):
        return Fixed.of(self.raw - Fixed(other).raw)

    def __mul__(self, other):
        product = self.raw * Fixed(other).raw
        quotient, rest = divmod(abs(product), self.UNIT)
        quotient += rest * 2 > self.UNIT or rest * 2 == self.UNIT and quotient % 2
        return Fixed.of(quotient if product >= 0 else -quotient)

    def __truediv__(self, other):
        return Fixed.of(self.raw * self.UNIT // Fixed(other).raw)

    __radd__, __rmul__ = __add__, __mul__

    def __neg__(self):
        return Fixed.of(-self.raw)

    def __abs__(self):
        return Fixed.of(abs(self.raw))

    def __eq__(self, other):
        try:
            return self.raw == Fixed(other).raw
        except TypeError:
            return NotImplemented

    def __lt__(self, other):
        return self.raw < Fixed(other).raw

    def __le__(self, other):
        return self.raw <= Fixed(other).raw

    def __hash__(self):
        return hash(self.raw)

    def __bool__(self):
        return self.raw != 0

    def __int__(self):
        return abs(self.raw) // self.UNIT * (1 if self.raw >= 0 else -1)

    def __float__(self):
        return self.raw / self.UNIT

    def __str__(self):
        whole, part = divmod(abs(self.raw), self.UNIT)
        text = f'{whole}.{part:0{self.PLACES}}'.rstrip('0').rstrip('.')
        return '-' + text if self.raw < 0 else text

    def __repr__(self):
        return f"Fixed('{self}')"

    def __format__(self, spec):
        if spec.endswith('m'):
            cents = round(self.raw * 100 / self.UNIT)
            whole, part = divmod(abs(cents), 100)
            return f'{"-" if cents < 0 else ""}{whole:,}.{part:02}'
        return format(float(self), spec)


a, b = Fixed('12.5'), Fixed('-0.0375')
print(a + b, a - b, a * b, a / 3, -a, abs(b), 1 + a, 2 * a, sum([a, b, a]), a == 12.5 if False else a == '12.5', a < 13, b <= '-0.0375')
print(int(a), int(b), float(b), bool(Fixed()), repr(a * a), {a: 1}[Fixed('12.50')], max(a, Fixed(3)), sorted([a, b, Fixed(1)], key=float))
print(f'{Fixed("1234567.891"):m} {Fixed("-0.005"):m} {a:.1f} {a}', a == object(), a != b)
for bad in ('x', '1.23456', '', 1.5, None):
    try:
        print(Fixed(bad))
    except (ValueError, TypeError) as error:
        print(type(error).__name__, error)
balance = Fixed(1000)
for year in range(1, 6):
    interest = balance * '0.0375'
    balance += interest
    print(f'{year} {interest:m} {balance:m}')
def split(total, shares):
    parts = [Fixed.of(total.raw * share // sum(shares)) for share in shares]
    parts[0] += total - sum(parts, Fixed())
    return parts
print(split(Fixed(100), [1, 1, 1]), sum(split(Fixed('0.01'), [3, 3, 1]), Fixed()))
