import cowboy
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from dataclasses import dataclass, field
from enum import Enum
from functools import lru_cache, partial


class Color(Enum):
    RED = 1
    GREEN = 2


@dataclass
class Point:
    x: int
    y: int = 0
    tags: list = field(default_factory=list)


Pair = namedtuple('Pair', 'left right')


class Base:
    registry = []

    def __init_subclass__(cls, **kwargs):
        Base.registry.append(cls.__name__)

    @property
    def double(self):
        return self.value * 2

    @classmethod
    def make(cls, value):
        made = cls()
        made.value = value
        return made

    @staticmethod
    def plain(x):
        return x + 1


class Stack(list):
    def push(self, x):
        self.append(x)
        return self


class Derived(Base):
    def __init__(self):
        super().__init__()
        self.value = 0

    def __eq__(self, other):
        return self.value == other.value

    def __hash__(self):
        return hash(self.value)


@lru_cache(maxsize=None)
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


async def main():
    words = Counter('mississippi')
    groups = defaultdict(list)
    queue = deque([1, 2, 3], maxlen=4)
    order = OrderedDict(a=1, b=2)
    point = Point(1, tags=['p'])
    pair = Pair(1, [2])
    stack = Stack([0])
    add = partial(max, 3)
    made = Derived.make(5)
    table = {made: 'five', Color.RED: 'red'}
    bound = made.make
    late = super(Derived, made)
    out = [fib(20)]
    for n in range(6):
        try:
            value = await cowboy.submit_job(n)
        except RuntimeError:
            value = -1
        groups[n % 2].append(value)
        queue.append(value)
        order.move_to_end('a')
        point.x += value
        point.tags.append(n)
        pair.right.append(n)
        stack.push(n)
        words.update('s')
        out.append((table[Derived.make(5)], table[Color.RED], Color(2) is Color.GREEN, add(value)))
        out.append((fib(10 + n), made.double, Derived.plain(n), bound(n).value, late.make(n).value))

        class Local(Base):
            number = n
    return repr((out, words.most_common(2), dict(groups), list(queue), list(order), point, pair, stack, Base.registry))
