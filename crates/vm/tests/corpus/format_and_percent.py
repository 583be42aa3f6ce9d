print('{} {}'.format(1, 2), '{1} {0}'.format(1, 2), '{a} {b}'.format(a=1, b=2))
print('{0[0]} {0[1]}'.format([1, 2]), '{d[key]}'.format(d={'key': 'v'}))
class C:
    x = 5
    def __init__(self): self.y = [7, 8]
print('{c.x} {c.y[1]}'.format(c=C()), '{0.x:>4}'.format(C()))
print('{:>{w}}'.format('a', w=5), '{:{}}'.format('b', 4) + '|', '{:{f}{a}{w}}'.format('c', f='*', a='^', w=7))
print('{{}} {{{}}}'.format(3), '{!r:>6}'.format('a'))
for t, a, k in [('{} {1}', (1, 2), {}), ('{', (), {}), ('}', (), {}), ('{0', (), {}), ('{}', (), {}), ('{a}', (), {}), ('{0.q}', (1,), {}), ('{0[x]}', ([1],), {}), ('{!z}', (1,), {}), ('{:d}', ('a',), {}), ('{0[5]}', ([1],), {}), ('{:>>}', (3,), {}), ('{!}', (1,), {})]:
    try: print(t.format(*a, **k))
    except Exception as e: print(t, type(e).__name__, e)
print('%d %i %5d|%-5d|%05d %+d % d' % (1, 2, 3, 4, 5, 6, 7))
print('%s %r %a %10s|%-10s|%.2s' % ('a', 'b', 'é', 'c', 'd', 'efg'))
print('%x %X %#x %o %#o %c %c %%' % (255, 255, 255, 8, 8, 65, 'z'))
print('%f %.2f %10.3f|%-10.1f|%e %.3e %g %G %g' % (1.5, 2.345, 3.14159, 2.5, 12345.678, 0.00012, 1e-5, 1e20, 100000.0))
print('%(a)s %(b)05.1f' % {'a': 'x', 'b': 2.25})
print('%*d|%-*d|%.*f' % (5, 1, 5, 2, 2, 3.14159))
print('%s' % (1, ) , '%s' % [1, 2], '%s %s' % ('a', (1, 2)))
for t, a in [('%d', 'a'), ('%d %d', (1,)), ('%d', (1, 2)), ('%q', 1), ('%', 1), ('%(a)s', 1), ('%(a)s', {}), ('%c', 'ab'), ('%c', -1), ('%x', 1.5), ('%d', 1.9), ('%s', ()), ('abc', 1), ('abc', {}), ('%d', None), ('%.2f', 'x'), ('%*d', ('a', 1))]:
    try: print(repr(t % a))
    except Exception as e: print(t, type(e).__name__, e)
print('%s %s' % ({'a': 1}, {1}), '%5s|%-5s|' % (True, None), '%r' % ('it\'s',), '%r' % 'a"b\'c')
print('{:,}'.format(10**20), '{:,.3f}'.format(1e10), '{:_}'.format(123456), '{:e}'.format(0), '{:%}'.format(0.256))
print('{0:b} {0:o} {0:x} {0:#b}'.format(10), '{:c}'.format(97), '{:>+8.2f}'.format(3.14159))
from string import Template, capwords
print(Template('$a ${b}c $$').substitute(a=1, b=2), Template('$x $y').safe_substitute(x=1))
try: Template('$x').substitute()
except KeyError as e: print('KeyError', e)
print(capwords('hello wORLD  foo'))
print('{a}'.format_map({'a': 9}))
class D(dict):
    def __missing__(self, k): return '<' + k + '>'
print('{a} {zz}'.format_map(D(a=1)))
