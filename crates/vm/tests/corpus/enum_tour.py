from enum import Enum, Flag, IntEnum, IntFlag, auto, unique


class Color(Enum):
    RED = 'r'
    GREEN = 'g'
    BLUE = 'b'
    CRIMSON = 'r'

    @property
    def title(self):
        return self.name.title()

    @classmethod
    def parse(cls, text):
        return cls[text.upper()]

    def __str__(self):
        return f'<{self.title}>'


class Level(IntEnum):
    LOW = auto()
    MID = auto()
    HIGH = 10
    MAX = auto()


class Perm(Flag):
    READ = auto()
    WRITE = auto()
    EXEC = auto()
    ALL = READ | WRITE | EXEC


class Planet(Enum):
    EARTH = (5.97, 6.37)
    MARS = (0.64, 3.39)

    def __init__(self, mass, radius):
        self.mass = mass
        self.radius = radius

    @property
    def density(self):
        return round(self.mass / self.radius ** 3, 4)


print(list(Color), Color.RED, repr(Color.BLUE), Color('g'), Color['RED'], Color.CRIMSON is Color.RED, Color.parse('blue').title)
print(Color.RED == 'r', Color.RED != Color.BLUE, Color.RED in {Color.RED: 1}, len(Color), Color.__members__.keys())
print(Level.LOW, Level.MAX.value, Level.LOW < Level.HIGH, Level.MID + 1, sorted(Level, reverse=True), Level(10), max(Level).name)
print(Perm.READ | Perm.WRITE, Perm.ALL & Perm.EXEC, Perm.WRITE in Perm.ALL, bool(Perm.READ & Perm.WRITE), (Perm.READ | Perm.EXEC).value, ~Perm.READ)
for planet in Planet:
    print(planet.name, planet.value, planet.density)
for bad in (lambda: Color('x'), lambda: Color['X']):
    try:
        bad()
    except (ValueError, KeyError) as error:
        print(type(error).__name__, error)
try:
    Color.RED = 5
except AttributeError as error:
    print('AttributeError')
try:
    @unique
    class Bad(Enum):
        A = 1
        B = 1
except ValueError as error:
    print(error)


def describe(value):
    match value:
        case Color.RED:
            return 'red'
        case Color.GREEN | Color.BLUE:
            return 'cold'
        case Level.LOW:
            return 'low'
        case _:
            return 'else'


print([describe(value) for value in (Color.RED, Color.BLUE, Level.LOW, Level.HIGH)])
Shape = Enum('Shape', 'CIRCLE SQUARE')
print(list(Shape), Shape.SQUARE.value, isinstance(Shape.CIRCLE, Shape))
print({color.name: color.value for color in Color}, [c.name for c in Color if c is not Color.RED])
