# Operators and truth where one side leaves the answer to the other, or to nobody.

class I(list):
    __iadd__ = lambda self, other: NotImplemented


i = I([1])
before = i
i += [2]
print(i, type(i).__name__, before)


class N:
    def __iadd__(self, other):
        return NotImplemented


class Taker:
    def __radd__(self, other):
        return 'taken'


n = N()
n += Taker()
print(n)
n = N()
try:
    n += 1
except TypeError:
    print('refused')


class Truth:
    def __init__(self, value):
        self.value = value

    def __bool__(self):
        return self.value


class Length:
    def __init__(self, length):
        self.length = length

    def __len__(self):
        return self.length


def shown(action):
    try:
        print(action())
    except Exception as error:
        print(type(error).__name__, error)


for value in (True, False, 5, 0, None, Truth(True), 'x'):
    shown(lambda: bool(Truth(value)))
    shown(lambda: not Truth(value))
    shown(lambda: (Truth(value) or 5) == 5)
    shown(lambda: (Truth(value) and 5) == 5)
    shown(lambda: 1 if Truth(value) else 2)
    shown(lambda: [x for x in 'ab' if Truth(value)])
    shown(lambda: any([Truth(value)]))
for length in (0, 3, -1, True, 'x', None):
    shown(lambda: bool(Length(length)))
    shown(lambda: not Length(length))
    shown(lambda: (Length(length) or 5) == 5)
    shown(lambda: 1 if Length(length) else 2)
    shown(lambda: len(Length(length)))
for x in [1, 2]:
    for y in 'ab':
        z = Truth(x == 1) or Truth(False) and 7
        print(x, y, type(z).__name__)


class Bag:
    def __init__(self, value):
        self.value = value

    def __contains__(self, item):
        return Truth(self.value)


print(1 in Bag(True), 1 not in Bag(True), 1 in Bag(False), 1 not in Bag(False))
shown(lambda: 1 in Bag(5))
shown(lambda: 1 not in Bag(5))


class Eq:
    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return self.value


print(Eq(True) != 1, Eq(False) != 1, 1 != Eq(True), 1 != Eq(False))
print(Eq(Truth(True)) != 1, Eq(Truth(False)) != 1, (Eq(Truth(True)) == 1).value)
print(Eq(NotImplemented) != 1, Eq(NotImplemented) == 1, Eq(NotImplemented) != Eq(True), Eq(NotImplemented) == Eq(True))
same = Eq(NotImplemented)
print(same == same, same != same)


class M(int):
    def __eq__(self, other):
        return NotImplemented


print(M(3) == 3, M(3) != 3, 3 != M(3), 3 == M(3), M(3) == 4, M(3) != 4)


class Always(int):
    def __eq__(self, other):
        return True


print(Always(3) == 4, Always(3) != 4, 4 != Always(3), 4 == Always(3), [Always(3)] == [4])


class Loud(int):
    def __radd__(self, other):
        return 'radd'

    def __rmul__(self, other):
        return 'rmul'

    def __gt__(self, other):
        return 'gt'

    def __eq__(self, other):
        return 'eq'

    def __rsub__(self, other):
        return NotImplemented

    def __rand__(self, other):
        return 'rand'


print(1.5 + Loud(2), 1.5 < Loud(2), 1.5 * Loud(2), 1.5 - Loud(2), 2.0 == Loud(2))
print(1 + Loud(2), 1 < Loud(2), 1 * Loud(2), 1 - Loud(2), 2 == Loud(2), 1 & Loud(2), True + Loud(2))
print('ab' * Loud(2), [1] * Loud(2), (1,) * Loud(2))
shown(lambda: 1.5 & Loud(2))
shown(lambda: '%d!' % Loud(2))


class Base:
    def __init__(self, name):
        self.name = name

    def __add__(self, other):
        return self.name + ' add'

    def __radd__(self, other):
        return self.name + ' radd'

    def __lt__(self, other):
        return self.name + ' lt'

    def __gt__(self, other):
        return self.name + ' gt'

    def __eq__(self, other):
        return self.name + ' eq'


class Same(Base):
    pass


class Other(Base):
    def __radd__(self, other):
        return self.name + ' own radd'

    def __gt__(self, other):
        return self.name + ' own gt'


a, b, c = Base('a'), Same('b'), Other('c')
print(a + b, a < b, a == b, a > b)
print(a + c, a < c, a == c, a > c)
print(c + a, c < a, c == a, b + c)


class Sets(set):
    def __rand__(self, other):
        return 'rand'

    def __eq__(self, other):
        return 'eq'


print({1} & Sets([1]), frozenset([1]) & Sets([1]), {1} == Sets([1]), frozenset([1]) == Sets([1]))


class Text(str):
    def __radd__(self, other):
        return 'radd'

    def __rmod__(self, other):
        return 'rmod'


print('a' + Text('b'), '%s' % Text('b'), ['%s' % (Text('b'),)])


class Meta(type):
    @classmethod
    def __prepare__(cls, name, bases):
        from collections import OrderedDict
        return OrderedDict(first=1)


class Prepared(metaclass=Meta):
    second = first + 1

    def third(self):
        return self.first + self.second


print(Prepared.first, Prepared.second, Prepared().third())
