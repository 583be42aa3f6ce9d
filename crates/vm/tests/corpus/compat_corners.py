"""What programs rely on without thinking of it."""
import enum
import io
import json
from collections import OrderedDict
from collections.abc import Iterator

print(__doc__)


def shown(action):
    try:
        print(action())
    except Exception as error:
        print(type(error).__name__, error)


class Countdown(Iterator):
    def __init__(self, n):
        self.n = n

    def __next__(self):
        if self.n <= 0:
            raise StopIteration
        self.n -= 1
        return self.n


print(list(Countdown(3)), sum(Countdown(4)), isinstance(Countdown(1), Iterator), isinstance(iter([]), Iterator), isinstance([], Iterator))


class Several(Exception):
    def __init__(self, errors):
        super().__init__('msg')
        self.errors = errors

    def __repr__(self):
        return 'R'

    def __iter__(self):
        return iter(self.errors)

    def __bool__(self):
        return False


e = Several([1, 2])
print(str(e), repr(e), f'{e}', '%s' % e, bool(e), not e, e.__doc__, list(e), [x for x in e], sum(e), sorted(e))
a, b = e
print(a, b, str(Several(1)) + '!')
out = io.StringIO()
json.dump({'a': [1, 2]}, out, indent=1)
print(out.getvalue(), json.load(io.StringIO('[1, {"b": null}]')))


class F(float):
    pass


class N(int):
    pass


print(round(F(3.14159), 2), round(F(2.5)), round(N(15), -1), round(N(7)), divmod(F(7.5), 2), divmod(N(7), N(2)), type(round(N(7))).__name__)
print(2.0 in range(5), 2.5 in range(5), True in range(2), F(4.0) in range(0, 9, 2), 1e300 in range(5), float('nan') in range(3), float('inf') in range(3))
Level = enum.IntEnum('Level', ['A', 'B'], start=0)
print(list(Level), list(enum.Enum('E', 'x y', start=5)))
print('{:<010}|{:>010}|{:^06}|{:x<05}|{:05}'.format(5, 5, 5, 5, -5), f'{"a":<05}', f'{"a":05}', format(1.5, '<08'), format(-1.5, '08'))
for value in (5.0, 3.14159, 0.0, -2.5, 123.456, 1e10):
    print([format(value, spec) for spec in ('.1', '.0', '.2', '.3', '.5', '.12')])
print(format(65, '5c') + '|', format(65, '<5c') + '|', format(65, '^5c') + '|')


class Last(OrderedDict):
    def __setitem__(self, key, value):
        super().__setitem__(key, value)
        self.move_to_end(key)


last = Last()
last['a'] = 1
last['b'] = 2
last['a'] = 3
print(list(last.items()))
last.move_to_end('a', last=False)
print(list(last.items()))
shown(lambda: print('a', 'b', sep=1))
shown(lambda: print('a', 'b', end=b''))
shown(lambda: 1 in object())
shown(lambda: 1 in Countdown(3))
keys = {'a': 1, 'b': 2}.keys()
print(keys == {'a', 'b'}, {'a', 'b'} == keys, {'a'} == keys, {'a'} != keys, frozenset('ab') == keys, {('a', 1)} == {'a': 1}.items(), keys == 5, 5 == keys, keys == ['a', 'b'], ['a', 'b'] == keys, [keys] == [{'a', 'b'}])
print(True.real, True.numerator, (5).real, False.real)
print(OrderedDict(a=1) != OrderedDict(a=1), OrderedDict(a=1, b=2) != OrderedDict(b=2, a=1), OrderedDict(a=1) != {'a': 1})
print('bye')
exit()
print('never')
