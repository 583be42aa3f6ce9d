# Complex numbers.

class complex:
    __module__ = 'builtins'
    __slots__ = ('real', 'imag')

    def __new__(cls, real=0.0, imag=_nothing):
        if isinstance(real, str):
            if imag is not _nothing:
                raise TypeError("complex() can't take second arg if first is a string")
            a, b = _complex_of(real)
        else:
            a = _complex_value(real)
            if a is None:
                raise TypeError("complex() first argument must be a string or a number, not '" + type(real).__name__ + "'")
            a, b = a
            if imag is not _nothing:
                second = _complex_value(imag)
                if second is None:
                    raise TypeError("complex() second argument must be a number, not '" + type(imag).__name__ + "'")
                a, b = (a - second[1] if second[1] else a), b + second[0] if b else second[0]
        made = object.__new__(cls)
        made.real = a
        made.imag = b
        return made

    def conjugate(self):
        return _complex(self.real, -self.imag)

    def __add__(self, other):
        if type(other) is complex:
            return _complex(self.real + other.real, self.imag + other.imag)
        other = _complex_value(other)
        return NotImplemented if other is None else _complex(self.real + other[0], self.imag + other[1])

    __radd__ = __add__

    def __sub__(self, other):
        other = _complex_value(other)
        return NotImplemented if other is None else _complex(self.real - other[0], self.imag - other[1])

    def __rsub__(self, other):
        other = _complex_value(other)
        return NotImplemented if other is None else _complex(other[0] - self.real, other[1] - self.imag)

    def __mul__(self, other):
        other = _complex_value(other)
        if other is None:
            return NotImplemented
        a, b = self.real, self.imag
        c, d = other
        return _complex(a * c - b * d, a * d + b * c)

    def __rmul__(self, other):
        other = _complex_value(other)
        return NotImplemented if other is None else complex(*other) * self

    def __truediv__(self, other):
        other = _complex_value(other)
        return NotImplemented if other is None else _complex_quotient((self.real, self.imag), other)

    def __rtruediv__(self, other):
        other = _complex_value(other)
        return NotImplemented if other is None else _complex_quotient(other, (self.real, self.imag))

    def __pow__(self, other, modulo=None):
        other = _complex_value(other)
        if modulo is not None:
            raise ValueError('complex modulo')
        return NotImplemented if other is None else _complex_power((self.real, self.imag), other)

    def __rpow__(self, other):
        other = _complex_value(other)
        return NotImplemented if other is None else _complex_power(other, (self.real, self.imag))

    def __neg__(self):
        return _complex(-self.real, -self.imag)

    def __pos__(self):
        return self

    def __abs__(self):
        import math
        return math.hypot(self.real, self.imag)

    def __bool__(self):
        return self.real != 0.0 or self.imag != 0.0

    def __eq__(self, other):
        if isinstance(other, complex):
            return self.real == other.real and self.imag == other.imag
        if isinstance(other, (int, float)):
            return self.imag == 0.0 and self.real == other
        return NotImplemented

    def __hash__(self):
        if self.imag == 0.0:
            return hash(self.real)
        whole = (hash(self.real) + 1000003 * hash(self.imag)) % 18446744073709551616
        if whole >= 9223372036854775808:
            whole -= 18446744073709551616
        return -2 if whole == -1 else whole

    def __complex__(self):
        return self

    def __getnewargs__(self):
        return (self.real, self.imag)

    def __repr__(self):
        imag = _complex_digits(self.imag)
        if self.real == 0.0 and str(self.real)[0] != '-':
            return imag + 'j'
        return '(' + _complex_digits(self.real) + ('' if imag[0] == '-' else '+') + imag + 'j)'

    def __format__(self, spec):
        if not spec:
            return str(self)
        align = ''
        fill = ' '
        if len(spec) > 1 and spec[1] in '<>^':
            fill, align, spec = spec[0], spec[1], spec[2:]
        elif spec[0] in '<>^':
            align, spec = spec[0], spec[1:]
        sign = ''
        if spec[:1] in ('+', '-', ' '):
            sign, spec = spec[0], spec[1:]
        width = ''
        while spec[:1].isdigit():
            width, spec = width + spec[0], spec[1:]
        if spec and (spec[-1].isdigit() or spec[-1] == ','):
            # Without a letter the shortest digits are shown, and brackets.
            text = '(' + format(self.real, sign + spec + 'g') + format(self.imag, '+' + spec + 'g') + 'j)'
        elif spec:
            text = format(self.real, sign + spec) + format(self.imag, '+' + spec) + 'j'
        else:
            text = str(self)
        return format(text, fill + (align or '>') + width) if width else text


def _complex(real, imag):
    # Two floats as a number.
    made = _object_new(complex)
    made.real = real
    made.imag = imag
    return made


_object_new = object.__new__


def _complex_digits(value):
    text = repr(value)
    return text[:-2] if text.endswith('.0') else text


def _complex_value(value):
    # The two parts of a number; None if it is none.
    if isinstance(value, complex):
        return value.real, value.imag
    if isinstance(value, (int, float)):
        return float(value), 0.0
    method = _user_method(value, '__complex__')
    if method is not None:
        made = method(value)
        return made.real, made.imag
    method = _user_method(value, '__float__')
    return None if method is None else (method(value), 0.0)


def _complex_of(text):
    # The parts that a text names.
    wrong = ValueError('complex() arg is a malformed string')
    text = text.strip()
    if text.startswith('(') and text.endswith(')'):
        text = text[1:-1].strip()
    if not text or ' ' in text:
        raise wrong
    if text[-1] not in 'jJ':
        try:
            return float(text), 0.0
        except ValueError:
            raise wrong from None
    text = text[:-1]
    cut = 0
    for place, char in enumerate(text):
        if char in '+-' and place > 0 and text[place - 1] not in 'eE':
            cut = place
    real, imag = text[:cut], text[cut:]
    if imag in ('', '+', '-'):
        imag += '1'
    try:
        return (float(real) if real else 0.0), float(imag)
    except ValueError:
        raise wrong from None


def _complex_quotient(a, b):
    # The larger part of the divisor is divided out first: nothing overflows on the way.
    x, y = b
    if abs(x) >= abs(y):
        if x == 0.0:
            raise ZeroDivisionError('complex division by zero')
        ratio = y / x
        under = x + y * ratio
        return complex((a[0] + a[1] * ratio) / under, (a[1] - a[0] * ratio) / under)
    if abs(y) >= abs(x):
        ratio = x / y
        under = x * ratio + y
        return complex((a[0] * ratio + a[1]) / under, (a[1] * ratio - a[0]) / under)
    nan = float('nan')
    return _complex(nan, nan)


def _complex_power(a, b):
    import math
    if b == (0.0, 0.0):
        return _complex(1.0, 0.0)
    if b[1] == 0.0 and b[0] == math.floor(b[0]) and abs(b[0]) <= 100.0:
        # Small whole powers are products.
        count = int(abs(b[0]))
        base = complex(*a)
        made = _complex(1.0, 0.0)
        mask = 1
        while mask <= count:
            if count & mask:
                made = made * base
            mask *= 2
            base = base * base
        if b[0] > 0:
            return made
        if a == (0.0, 0.0):
            raise ZeroDivisionError('0.0 to a negative or complex power')
        return _complex_quotient((1.0, 0.0), (made.real, made.imag))
    if a == (0.0, 0.0):
        if b[1] != 0.0 or b[0] < 0.0:
            raise ZeroDivisionError('0.0 to a negative or complex power')
        return _complex(0.0, 0.0)
    size = math.hypot(*a)
    length = math.pow(size, b[0])
    at = math.atan2(a[1], a[0])
    angle = at * b[0]
    if b[1] != 0.0:
        length /= math.exp(at * b[1])
        angle += b[1] * math.log(size)
    return _complex(length * math.cos(angle), length * math.sin(angle))


def _negative_root(a, b):
    # A negative number to a power that is not whole.
    return _complex_power((a, 0.0), (b, 0.0))
