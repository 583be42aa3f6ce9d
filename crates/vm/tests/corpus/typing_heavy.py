from __future__ import annotations

import typing
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Dict, Final, Generic, List, Literal, NamedTuple, Optional, Protocol, Tuple, TypedDict, TypeVar, Union, cast, overload

T = TypeVar('T')
K = TypeVar('K')
Handler = Callable[[str], int]
MODE: Final = 'fast'


class Stack(Generic[T]):
    def __init__(self) -> None:
        self._items: List[T] = []

    def push(self, item: T) -> Stack[T]:
        self._items.append(item)
        return self

    def pop(self) -> T:
        return self._items.pop()

    def __iter__(self) -> Iterator[T]:
        return iter(self._items)


class Named(Protocol):
    name: str

    @abstractmethod
    def greet(self) -> str: ...


@dataclass
class Person:
    name: str
    age: Optional[int] = None
    limit: ClassVar[int] = 3

    def greet(self) -> str:
        return f'I am {self.name}'


class Point(NamedTuple):
    x: int
    y: int = 0

    def shifted(self, by: int) -> Point:
        return self._replace(x=self.x + by)


class Movie(TypedDict):
    title: str
    year: int


def first(items: Sequence[T], default: Union[T, None] = None) -> Optional[T]:
    return items[0] if items else default


def group(items: Iterable[T], key: Callable[[T], K]) -> Dict[K, List[T]]:
    out: Dict[K, List[T]] = {}
    for item in items:
        out.setdefault(key(item), []).append(item)
    return out


def mode(value: Literal['r', 'w']) -> Tuple[str, ...]:
    return (value, MODE)


def apply(table: Mapping[str, Handler], name: str) -> int | None:
    handler = table.get(name)
    return handler(name) if handler else None


count: int = 0
later: str
s: Stack[int] = Stack()
print(list(s.push(1).push(2)), s.pop(), Stack[str]().push('x').pop())
print(Person('ann').greet(), Person('bob', 5), Person.limit, Point(1), Point(1, 2).shifted(3), Point(3, 4).y)
movie: Movie = {'title': 'M', 'year': 1931}
print(movie, movie['year'], first([]), first('xy'), first([], 7), group('apple avocado bean'.split(), len), mode('r'))
print(apply({'len': len}, 'len'), apply({}, 'x'), cast(int, 'not'), typing.TYPE_CHECKING, isinstance([], Sequence), isinstance({}, Mapping), isinstance(len, Callable))


def annotated(a: int, b: 'str' = 'x', *args: Any, **kwargs: Dict[str, Any]) -> None:
    pass


print(sorted(annotated.__annotations__), annotated(1), count)
