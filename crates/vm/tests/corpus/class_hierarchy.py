from abc import ABC, abstractmethod
from math import pi


class Shape(ABC):
    registry = {}

    def __init_subclass__(cls, /, kind=None, **kwargs):
        super().__init_subclass__(**kwargs)
        cls.kind = kind or cls.__name__.lower()
        Shape.registry[cls.kind] = cls

    @abstractmethod
    def area(self):
        """The area."""

    @property
    @abstractmethod
    def sides(self): ...

    def describe(self):
        return f'{self.kind} with {self.sides} sides and area {self.area():.2f}'

    def __lt__(self, other):
        return self.area() < other.area()

    @classmethod
    def create(cls, kind, *args, **kwargs):
        return cls.registry[kind](*args, **kwargs)


class Polygon(Shape):
    def __init__(self, *points):
        self.points = points

    def area(self):
        total = 0
        for (x1, y1), (x2, y2) in zip(self.points, self.points[1:] + self.points[:1]):
            total += x1 * y2 - x2 * y1
        return abs(total) / 2

    @property
    def sides(self):
        return len(self.points)


class Rectangle(Polygon, kind='rect'):
    def __init__(self, width, height):
        super().__init__((0, 0), (width, 0), (width, height), (0, height))
        self.width, self.height = width, height

    def __repr__(self):
        return f'{type(self).__name__}({self.width}, {self.height})'


class Square(Rectangle):
    def __init__(self, side):
        super().__init__(side, side)

    def describe(self):
        return super().describe().upper()


class Circle(Shape):
    sides = 0

    def __init__(self, radius):
        self.radius = radius

    def area(self):
        return pi * self.radius ** 2


class Loud:
    def describe(self):
        return super().describe() + '!'


class LoudSquare(Loud, Square):
    pass


shapes = [Shape.create('rect', 3, 4), Square(2), Circle(1), LoudSquare(1), Polygon((0, 0), (4, 0), (0, 3))]
for shape in sorted(shapes):
    print(shape.describe(), type(shape).__name__)
print(sorted(Shape.registry), [cls.__name__ for cls in LoudSquare.__mro__])
print(isinstance(shapes[1], Rectangle), issubclass(Square, Shape), isinstance(shapes[2], Polygon), LoudSquare.__bases__, shapes[0])
for cls in (Shape, type('Half', (Shape,), {'area': lambda self: 1})):
    try:
        cls()
    except TypeError as error:
        print('cannot', cls.__name__)


class A:
    def who(self):
        return ['A']


class B(A):
    def who(self):
        return ['B'] + super().who()


class C(A):
    def who(self):
        return ['C'] + super().who()


class D(B, C):
    def who(self):
        return ['D'] + super().who()


print(D().who(), D.mro() == [D, B, C, A, object])
try:
    type('Bad', (A, B), {})
except TypeError as error:
    print('TypeError')


class Meta(type):
    def __call__(cls, *args):
        made = super().__call__(*args)
        made.made_by = cls.__name__
        return made

    def __len__(cls):
        return len(cls.__name__)

    def __getattr__(cls, name):
        return f'{cls.__name__}.{name}?'

    def __contains__(cls, item):
        return item in 'abc'


class Made(metaclass=Meta):
    def __init__(self, x):
        self.x = x


print(Made(5).made_by, len(Made), Made.anything, 'a' in Made, type(Made) is Meta)
print(getattr(D(), 'missing', 'default'), hasattr(D, 'who'), vars(Made(1)), D.who.__qualname__, D().who.__name__, callable(D))
Dynamic = type('Dynamic', (A,), {'x': 1, 'double': lambda self: self.x * 2})
print(Dynamic().double(), Dynamic.__name__, Dynamic().who())
