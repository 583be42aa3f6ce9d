# One line for each corner that was once wrong.
import io
import math
import re


def shown(action):
    try:
        print(action())
    except Exception as error:
        print(type(error).__name__, error)


inf, nan = math.inf, math.nan
for items in ([inf, 1, 2], [1, -inf, 2], [nan, 1], [inf, nan], [inf, -inf], [1e308, 1e308], [1e308, 1e308, -1e308], [], [0.1] * 10, [1e16, 1, 1e-16, -1e16], [-0.0]):
    shown(lambda: math.fsum(items))
for spec in ('#.3g', '#.1g', '#.0e', '#.0f', '#.0%', '#g', '#', '#.3', '#G', '#.0E', '.3g', 'g'):
    print([format(x, spec) for x in (199.5, 1e22, 5.0, 0.0, 1e-7, 123456789.0)])
print('%#.3g %#.0f %#.0e' % (199.5, 5, 5))
frozen = frozenset([1])
for action in (lambda: set.add(frozen, 2), lambda: set.discard(frozen, 1), lambda: set.remove(frozen, 1), lambda: set.pop(frozen), lambda: set.clear(frozen), lambda: set.update(frozen, [2]), lambda: set.__init__(frozen, [3]), lambda: set.difference_update(frozen, [1])):
    try:
        action()
        print('taken')
    except TypeError:
        print('refused')
print(frozen)
out = io.StringIO()
out.write('a')
out.close()
for action in (lambda: out.write('b'), lambda: out.getvalue(), lambda: out.read(), lambda: out.seek(0), lambda: out.tell(), lambda: out.flush()):
    try:
        action()
        print('taken')
    except ValueError:
        print('refused')
for pattern, text in ((r'(?<=(a))b', 'ab'), (r'(?<=(a|b)(c))d', 'bcd'), (r'(?<=(\d{2})-)x', '12-x'), (r'(?<=\b(a))b', 'ab'), (r'(?<!(a))b', 'cb'), (r'(?=(a+))a', 'aaa'), (r'(?<=(?=(b))b)c', 'bc')):
    found = re.search(pattern, text)
    print(found and (found.span(), found.groups()))
for pattern, text in (('σ', 'ς'), ('ς', 'Σ'), ('Σ', 'ς'), ('s', 'ſ'), ('µ', 'μ'), ('[σ]', 'ς'), ('i', 'ı'), ('k', '\u212a'), ('β', 'ϐ'), ('т', '\u1c84')):
    print(bool(re.fullmatch(pattern, text, re.I)), bool(re.fullmatch(pattern, text)))
