def add(a, b): return a + b
def sub(a, b): return a - b
def mul(a, b): return a * b
def truediv(a, b): return a / b
def floordiv(a, b): return a // b
def mod(a, b): return a % b
def pow(a, b): return a ** b
def neg(a): return -a
def pos(a): return +a
def not_(a): return not a
def and_(a, b): return a & b
def or_(a, b): return a | b
def xor(a, b): return a ^ b
def invert(a): return ~a
def lshift(a, b): return a << b
def rshift(a, b): return a >> b
def eq(a, b): return a == b
def ne(a, b): return a != b
def lt(a, b): return a < b
def le(a, b): return a <= b
def gt(a, b): return a > b
def ge(a, b): return a >= b
def is_(a, b): return a is b
def is_not(a, b): return a is not b
def truth(a): return True if a else False
def contains(a, b): return b in a
def concat(a, b): return a + b
def getitem(a, b): return a[b]
def index(a): return a.__index__()


def matmul(a, b): return a @ b


def countOf(a, b):
    count = 0
    for item in a:
        if item is b or item == b:
            count += 1
    return count


def indexOf(a, b):
    index = 0
    for item in a:
        if item is b or item == b:
            return index
        index += 1
    raise ValueError('sequence.index(x): x not in sequence')


def length_hint(obj, default=0):
    return len(obj) if hasattr(obj, '__len__') else default


def call(obj, /, *args, **kwargs): return obj(*args, **kwargs)


def iadd(a, b):
    a += b
    return a


def isub(a, b):
    a -= b
    return a


def imul(a, b):
    a *= b
    return a


def ior(a, b):
    a |= b
    return a


def iand(a, b):
    a &= b
    return a


def ixor(a, b):
    a ^= b
    return a


def ifloordiv(a, b):
    a //= b
    return a


def imod(a, b):
    a %= b
    return a


def ipow(a, b):
    a **= b
    return a


def itruediv(a, b):
    a /= b
    return a


def ilshift(a, b):
    a <<= b
    return a


def irshift(a, b):
    a >>= b
    return a


def imatmul(a, b):
    a @= b
    return a


def iconcat(a, b):
    a += b
    return a


inv = invert
abs = abs


def setitem(a, b, c):
    a[b] = c


def delitem(a, b):
    del a[b]


def itemgetter(*keys):
    if len(keys) == 1:
        key = keys[0]
        return lambda value: value[key]
    return lambda value: tuple([value[key] for key in keys])


def attrgetter(*names):
    def one(value, name):
        for part in name.split('.'):
            value = getattr(value, part)
        return value
    if len(names) == 1:
        name = names[0]
        return lambda value: one(value, name)
    return lambda value: tuple([one(value, name) for name in names])


def methodcaller(name, *args, **kwargs):
    return lambda value: getattr(value, name)(*args, **kwargs)
