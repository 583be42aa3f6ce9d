import math, operator, string, types
from collections import ChainMap, defaultdict
from fractions import Fraction
import statistics
for t in ('$1', '${x', 'a $ b', '$x ${x}y $$ $x_1'):
    try: print(string.Template(t).substitute(x=1, x_1=2))
    except Exception as e: print(type(e).__name__, e)
print(string.Template('$who likes ${what} $').safe_substitute(who='tim'))
class F:
    def __float__(self): return 4.0
print(math.sqrt(F()), math.pow(F(), 2), math.sqrt(Fraction(1, 4)), '%.3f' % Fraction(1, 3), '%d' % Fraction(7, 2))
for f in (lambda: math.pow(0, -1), lambda: math.gamma(0), lambda: math.fmod(math.inf, 1), lambda: math.lgamma(0)):
    try: print(f())
    except Exception as e: print(type(e).__name__, e)
print(operator.index(True), True.real, True.__int__(), True.numerator, hasattr(5, 'is_integer'))
print(str.upper, list.append, dict.get, len, str.__len__)
class A:
    @property
    def p(self): return 1
a = A(); n = None
def t1():
    global n
    n += 1
def t2():
    x = {}
    x -= 3
def t3(): del a.p
for t in (t1, t2, t3, lambda: sorted(), lambda: sorted([1], lambda x: x), lambda: dict(1, 2), lambda: object(1), lambda: map(), lambda: filter(None),
          lambda: [].sort(5), lambda: 'abc'.split(1)):
    try: t(); print('none')
    except Exception as e: print(type(e).__name__, e)
print(ChainMap({'a': 1}) | {'b': 2}, {'z': 0} | ChainMap({'a': 1}), defaultdict(int, a=1) | {'q': 1})
m = types.MappingProxyType({'a': 1})
print(m, repr(m), m['a'], 'a' in m, len(m), dict(m), m.get('z'), list(m.items()), m == {'a': 1})
try: m['b'] = 2
except TypeError as e: print(e)
print(statistics.linear_regression([1, 2, 3], [2, 4, 6]))
def fails(): 1 / 0
try: fails()
except ZeroDivisionError as e:
    tb = e.__traceback__
    names = []
    while tb: names.append((tb.tb_frame.f_code.co_name, tb.tb_lineno)); tb = tb.tb_next
    print(names[1:], ValueError().__traceback__)
group = ExceptionGroup('several', [ValueError('v'), ExceptionGroup('inner', [TypeError('t'), KeyError('k')])])
print(group, repr(group), group.exceptions[0], group.message)
match, rest = group.split(TypeError); print(repr(match), repr(rest), group.subgroup(KeyError).exceptions)
class Base: pass
class One(Base): pass
class Two(Base): pass
class Three(One, Two): pass
print(Base.__subclasses__(), One.__subclasses__(), Three.__base__, Base.__base__, int.__base__, bool.__base__, object.__base__)
def curry(f):
    n = f.__code__.co_argcount
    return lambda *a: f(*a) if len(a) >= n else lambda *b: curry(f)(*a, *b)
print(curry(lambda a, b, c: a + b + c)(1)(2)(3), fails.__code__.co_name, (lambda x, *y, z=1: 0).__code__.co_varnames)
