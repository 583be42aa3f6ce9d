from __future__ import annotations
import typing
from typing import Any, Callable, Dict, Generic, Iterable, Iterator, List, Literal, Mapping, NamedTuple, Optional, Protocol, Sequence, Set, Tuple, Type, TypeVar, Union, cast, overload, TYPE_CHECKING, Final, ClassVar, TypedDict, NewType, Annotated, no_type_check, Awaitable, Coroutine, AsyncIterator, Generator, Deque, DefaultDict, Counter, FrozenSet, Hashable, Sized, runtime_checkable, get_type_hints, Self, NoReturn, Never, ParamSpec, Concatenate, Text, AnyStr, MutableMapping, MutableSequence, Collection, Container, Reversible, SupportsInt, SupportsFloat, SupportsAbs, IO, Pattern, Match, assert_never, LiteralString, TypeAlias, Required, NotRequired, Unpack, TypeVarTuple, ContextManager
T = TypeVar('T')
K = TypeVar('K', bound='Stack')
class Stack(Generic[T]):
    def __init__(self) -> None: self.items: List[T] = []
    def push(self, x: T) -> None: self.items.append(x)
    def pop(self) -> Optional[T]: return self.items.pop() if self.items else None
s: Stack[int] = Stack(); s.push(1); print(s.pop(), s.pop())
s2 = Stack[int](); s2.push(3); print(s2.items)
class Emp(NamedTuple):
    name: str
    id: int = 3
    def hi(self): return f'{self.name}!'
print(Emp('a'), Emp('b', 4).id, Emp('z').hi(), Emp._fields, Emp('q')._asdict())
class TD(TypedDict, total=False):
    a: int
    b: str
td: TD = {'a': 1}; print(td, TD(a=1, b='x'))
class Proto(Protocol):
    def run(self) -> int: ...
@runtime_checkable
class P2(Protocol):
    def run(self) -> int: ...
class Impl:
    def run(self): return 1
print(isinstance(Impl(), P2), isinstance(3, P2))
UserId = NewType('UserId', int); print(UserId(5) + 1, cast(int, 'x'))
def f(x: int | str, y: list[int] | None = None, *, z: dict[str, Any] = {}) -> tuple[int, ...]: return (1,)
print(f(1), f.__annotations__['x'])
Vec = list[float]; Alias = Union[int, str]; Cb = Callable[[int], str]
x: Final = 5
v: Vec = [1.0]; print(v, x)
@overload
def g(a: int) -> int: ...
@overload
def g(a: str) -> str: ...
def g(a): return a
print(g('q'))
print(Literal['a', 'b'] is not None, Optional[int] is not None, list[int] is not None)
import collections, itertools, functools, math, json, re, string, operator, copy, heapq, bisect, abc, enum, dataclasses, contextlib, struct, base64, hashlib, types
print(__name__)
class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self): ...
    @property
    @abc.abstractmethod
    def name(self): ...
    def desc(self): return f'{self.name} {self.area()}'
class Sq(Shape):
    name = 'sq'
    def area(self): return 4
print(Sq().desc())
try: Shape()
except TypeError as e: print(e)
class Half(Shape):
    def area(self): return 1
try: Half()
except TypeError as e: print(e)
if __name__ == '__main__': print('main')
