import copy
import enum
import json

print(copy.deepcopy([len, abs, print]) == [len, abs, print])
many = [json.dumps] + [[i] for i in range(12000)]
made = copy.deepcopy(many)
print(made == many, made[1] is many[1], made[0] is json.dumps)


class Color(enum.Enum):
    RED = 1


class Point:
    def __init__(self, x, y):
        self.x = x
        self.y = y


class Stated:
    def __init__(self):
        self.kept = [1]
        self.dropped = 2

    def __getstate__(self):
        return {'kept': self.kept}

    def __setstate__(self, state):
        self.__dict__.update(state)
        self.restored = True


class Slotted:
    __slots__ = ('a', 'b')


plain = (1, 'a', (2.5, None))
print(copy.deepcopy(plain) is plain, copy.deepcopy(Color.RED) is Color.RED, copy.copy(Color.RED) is Color.RED)
print(copy.deepcopy([Color.RED])[0] is Color.RED, copy.deepcopy({'k': Color.RED}) == {'k': Color.RED})
mixed = (1, [2])
other = copy.deepcopy(mixed)
print(other == mixed, other is mixed, other[1] is mixed[1])
loop = ([],)
loop[0].append(loop)
other = copy.deepcopy(loop)
print(other is loop, other[0][0] is other)
point = Point(1, [2])
other = copy.deepcopy(point)
print(other.x, other.y, other.y is point.y, copy.copy(point).y is point.y)
stated = copy.deepcopy(Stated())
print(stated.kept, hasattr(stated, 'dropped'), stated.restored, sorted(copy.copy(Stated()).__dict__))
slotted = Slotted()
slotted.a = [1]
other = copy.deepcopy(slotted)
print(other.a, other.a is slotted.a, hasattr(other, 'b'))
shared = [1]
pair = copy.deepcopy([shared, shared, {'k': shared}])
print(pair[0] is pair[1], pair[2]['k'] is pair[0])


class Private:
    __slots__ = ('__x', 'y')

    def __init__(self):
        self.__x = 1

    def get(self):
        return self.__x


class Open:
    __slots__ = ('a', '__dict__')


class Single:
    __slots__ = '__z'

    def __init__(self):
        self.__z = 7


print(Private().get(), Private()._Private__x, Single()._Single__z)
thing = Open()
thing.a, thing.b = 1, 2
print(thing.a, thing.b, thing.__dict__['b'])
try:
    Private().other = 1
except AttributeError as error:
    print(error)
