# Functions of complex numbers.
import math as _math

pi = _math.pi
e = _math.e
tau = _math.tau
inf = _math.inf
nan = _math.nan
infj = complex(0.0, _math.inf)
nanj = complex(0.0, _math.nan)


def _parts(value):
    found = _complex_value(value)
    if found is None:
        raise TypeError('must be real number, not ' + type(value).__name__)
    return found


def phase(z, /):
    a, b = _parts(z)
    return _math.atan2(b, a)


def polar(z, /):
    a, b = _parts(z)
    return _math.hypot(a, b), _math.atan2(b, a)


def rect(r, phi, /):
    return complex(r * _math.cos(phi), r * _math.sin(phi)) if phi else complex(r, r * phi)


def sqrt(z, /):
    a, b = _parts(z)
    if a == 0.0 and b == 0.0:
        return complex(0.0, b)
    x, y = abs(a), abs(b)
    # Divided by eight first: no square is too large.
    s = 2.0 * _math.sqrt(x / 8.0 + _math.hypot(x / 8.0, y / 8.0))
    d = y / (2.0 * s)
    if a >= 0.0:
        return complex(s, _math.copysign(d, b))
    return complex(d, _math.copysign(s, b))


def exp(z, /):
    a, b = _parts(z)
    length = _math.exp(a)
    return complex(length * _math.cos(b), length * _math.sin(b))


def log(z, base=None, /):
    a, b = _parts(z)
    size = _math.hypot(a, b)
    if size == 0.0:
        raise ValueError('math domain error')
    if 0.71 <= size <= 1.73:
        # Near one the logarithm is small: it is taken of the distance from one.
        x, y = max(abs(a), abs(b)), min(abs(a), abs(b))
        length = _math.log1p((x - 1.0) * (x + 1.0) + y * y) / 2.0
    else:
        length = _math.log(size)
    made = complex(length, _math.atan2(b, a))
    return made if base is None else made / log(base)


def log10(z, /):
    made = log(z)
    return complex(made.real / _math.log(10.0), made.imag / _math.log(10.0))


def sinh(z, /):
    a, b = _parts(z)
    return complex(_math.cos(b) * _math.sinh(a), _math.sin(b) * _math.cosh(a))


def cosh(z, /):
    a, b = _parts(z)
    return complex(_math.cos(b) * _math.cosh(a), _math.sin(b) * _math.sinh(a))


def tanh(z, /):
    a, b = _parts(z)
    x, y = _math.tanh(a), _math.tan(b)
    part = 1.0 / _math.cosh(a)
    under = 1.0 + (x * y) * (x * y)
    return complex(x * (1.0 + y * y) / under, ((y / under) * part) * part)


def sin(z, /):
    a, b = _parts(z)
    made = sinh(complex(-b, a))
    return complex(made.imag, -made.real)


def cos(z, /):
    a, b = _parts(z)
    return cosh(complex(-b, a))


def tan(z, /):
    a, b = _parts(z)
    made = tanh(complex(-b, a))
    return complex(made.imag, -made.real)


def asinh(z, /):
    a, b = _parts(z)
    first = sqrt(complex(1.0 + b, -a))
    second = sqrt(complex(1.0 - b, a))
    return complex(_math.asinh(first.real * second.imag - second.real * first.imag),
                   _math.atan2(b, first.real * second.real - first.imag * second.imag))


def acosh(z, /):
    a, b = _parts(z)
    first = sqrt(complex(a - 1.0, b))
    second = sqrt(complex(a + 1.0, b))
    return complex(_math.asinh(first.real * second.real + first.imag * second.imag),
                   2.0 * _math.atan2(first.imag, second.real))


def asin(z, /):
    a, b = _parts(z)
    made = asinh(complex(-b, a))
    return complex(made.imag, -made.real)


def acos(z, /):
    a, b = _parts(z)
    first = sqrt(complex(1.0 - a, -b))
    second = sqrt(complex(1.0 + a, b))
    return complex(2.0 * _math.atan2(first.real, second.real),
                   _math.asinh(second.real * first.imag - second.imag * first.real))


def atanh(z, /):
    made = (log(1 + z) - log(1 - z)) / 2
    return made


def atan(z, /):
    a, b = _parts(z)
    made = atanh(complex(-b, a))
    return complex(made.imag, -made.real)


def isclose(a, b, *, rel_tol=1e-09, abs_tol=0.0):
    if a == b:
        return True
    return abs(a - b) <= max(rel_tol * max(abs(a), abs(b)), abs_tol)


def isfinite(z, /):
    a, b = _parts(z)
    return _math.isfinite(a) and _math.isfinite(b)


def isinf(z, /):
    a, b = _parts(z)
    return _math.isinf(a) or _math.isinf(b)


def isnan(z, /):
    a, b = _parts(z)
    return _math.isnan(a) or _math.isnan(b)
