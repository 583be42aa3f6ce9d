# Special methods that are natives, answers of the wrong type, and classes of collections.abc.
import collections.abc as abc
import io
import itertools
import types
from collections import defaultdict, deque
from dataclasses import dataclass, field, replace


class Record(dict):
    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__
    __delattr__ = dict.__delitem__


def tried(action):
    try:
        return action()
    except Exception as error:
        return type(error).__name__ + ': ' + str(error)


record = Record(a=1)
record.b = 2
record.a += 10
del record['b']
record.c = record.a
del record.a
print(record, record.c, tried(lambda: record.zz), list(record.__dict__))


class Odd:
    def __init__(self, answer):
        self.answer = answer

    def __bool__(self):
        return self.answer


for answer in (True, False, 1, None, 'yes'):
    print(answer, tried(lambda: bool(Odd(answer))), tried(lambda: 'then' if Odd(answer) else 'else'), tried(lambda: not Odd(answer)))

views = {'a': [1], 'b': [2]}
print(views.items() >= {('z', 1)}, views.keys() >= {'a'}, {'a', 'b', 'c'} > views.keys(), views.keys() == {'a', 'b'})
print(views.items() == {'b': [2], 'a': [1]}.items(), views.items() <= {'a': [1], 'b': [2], 'c': 0}.items())

merged = defaultdict(list, {'x': [1]}) | {'y': [2]}
merged['z'].append(3)
print(merged, {'p': 1} | defaultdict(int, q=2), tried(lambda: merged | [1])[:9])
full = deque([1, 2], maxlen=2)
print(tried(lambda: full.insert(0, 9)), full, tried(lambda: itertools.tee([1], -1)), len(itertools.tee([1], 0)))


class Countdown(abc.Iterator):
    def __init__(self, n):
        self.n = n

    def __next__(self):
        if self.n == 0:
            raise StopIteration
        self.n -= 1
        return self.n


print(list(Countdown(3)), iter(Countdown(1)) is not None, [a + b for a, b in zip(Countdown(2), Countdown(2))])
print(isinstance(range(3), abc.Sequence), isinstance([], abc.Reversible), isinstance({}, abc.Reversible), isinstance({1}, abc.Reversible))
print(isinstance({}.keys(), abc.KeysView), isinstance({}.items(), abc.ItemsView), isinstance([], abc.KeysView), isinstance({}.values(), abc.ValuesView))
print(list([1, 2].__reversed__()), list({'a': 1, 'b': 2}.__reversed__()), list(range(3).__reversed__()), range(5).__len__(), range(5).__getitem__(2))


class Dog:
    name = 'Rex'


dog = Dog()
dog.speak = types.MethodType(lambda self, sound: self.name + ': ' + sound, dog)
print(dog.speak('woof'), isinstance(dog.speak, types.MethodType), isinstance(tried, types.MethodType), tried(lambda: types.MethodType(5, dog)))
print(tried(lambda: setattr(object(), 'x', 1)), tried(lambda: bytearray(b'ab')[5]), tried(lambda: b'ab'[5]))


@dataclass
class Box:
    side: int
    area: int = field(init=False, default=0)


print(replace(Box(2), side=3), tried(lambda: replace(Box(2), area=3)))

stream = io.BytesIO(b'first\nsecond')
print(stream.read(2), stream.readline(), stream.tell(), list(stream), stream.read())
stream.seek(0)
stream.write(b'FIRST!!')
stream.seek(2, 2)
stream.write(b'end')
print(stream.getvalue(), stream.truncate(3), stream.getvalue(), tried(lambda: stream.write('text')))
with io.BytesIO() as other:
    other.writelines([b'a\n', b'b'])
    print(other.getvalue())
print(other.closed, tried(other.getvalue))
