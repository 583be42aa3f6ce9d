import dataclasses
from dataclasses import asdict, astuple, dataclass, field, fields, replace
from typing import ClassVar, List, Optional


@dataclass
class Item:
    name: str
    price: float = 0.0
    tags: List[str] = field(default_factory=list)
    count: ClassVar[int] = 0
    secret: str = field(default='x', repr=False, compare=False)

    def __post_init__(self):
        Item.count += 1
        self.name = self.name.strip()

    @property
    def label(self):
        return f'{self.name}@{self.price:.2f}'


@dataclass(frozen=True, order=True)
class Version:
    major: int
    minor: int = 0
    patch: int = 0

    @classmethod
    def parse(cls, text):
        return cls(*map(int, text.split('.')))

    def __str__(self):
        return '.'.join(map(str, astuple(self)))


@dataclass
class Base:
    x: int
    y: int = 2


@dataclass
class Derived(Base):
    z: int = 3
    child: Optional['Derived'] = None


@dataclass(kw_only=True)
class Options:
    depth: int = 1
    name: str


@dataclass(eq=False)
class Plain:
    value: int


a, b = Item(' apple ', 1.5), Item('apple', 1.5, secret='y')
print(a, b, a == b, a.label, Item.count, a.tags is b.tags)
a.tags.append('fruit')
print(asdict(a), astuple(b), [f.name for f in fields(Item)])
print(replace(b, price=9.0, tags=['n']))
versions = [Version.parse(text) for text in ('1.10.0', '1.2', '1.2.3', '0.9')]
print(*sorted(versions), max(versions), Version(1) < Version(1, 1), Version(1) == Version(1, 0, 0), hash(Version(2)) == hash(Version(2)))
print({Version(1): 'one'}[Version(1, 0)], repr(Version(3)))
try:
    Version(1).major = 5
except dataclasses.FrozenInstanceError as error:
    print(type(error).__name__, error)
try:
    a < b
except TypeError as error:
    print(error)
d = Derived(1, child=Derived(5, 6, 7))
print(d, asdict(d), d == Derived(1, 2, 3, Derived(5, 6, 7)), isinstance(d, Base))
print(Options(name='n'), Plain(1) == Plain(1))
try:
    Options(1, 'n')
except TypeError as error:
    print('TypeError')
try:
    Item()
except TypeError as error:
    print(error)
match d:
    case Derived(1, y, child=Derived(z=deep)):
        print('matched', y, deep)
print(dataclasses.is_dataclass(Item), dataclasses.is_dataclass(int), Item.__match_args__)
