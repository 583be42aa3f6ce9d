import typing
from typing import *
from dataclasses import dataclass, field, fields, InitVar, KW_ONLY, make_dataclass, asdict
import collections, collections.abc
T = TypeVar('T'); K = TypeVar('K')
class Node(Generic[T]):
    items: ClassVar[list] = []
    value: T
    next: Optional['Node[T]'] = None
    __secret: int = 5
    def __init__(self, value: T, next: 'Optional[Node[T]]' = None) -> None:
        self.value = value
        self.q: Nope = 3
print(Node.__annotations__)
print(Node[int], Node[int](3).value, Node.__init__.__annotations__)
class Pair(Generic[T, K]): pass
class Sub(Pair[int, str]): pass
print(Pair[int, str], Sub.__mro__, Sub.__orig_bases__, Pair[int, T][str])
print(Dict[str, List[int]], Tuple[int, ...], Callable[[int, str], bool], Callable[..., int], Union[int, str, None], Literal['a', 1], Annotated[int, 'm'], Type[int], Iterable[int], Any, ClassVar[int], Final, Optional[Union[int, str]], List, Dict, Set[int], FrozenSet[str], DefaultDict[str, int], Deque[int], Counter[str], Sequence[T], Mapping[str, 'X'])
print(list[int], dict[str, list[int]], tuple[int, ...], tuple[()], type[int], collections.deque[int], collections.defaultdict[str, int], collections.abc.Iterable[int])
print(int | None, int | str | None, list[int] | None, Optional[int] == Union[int, None], int | str == str | int, (int | None) == Optional[int])
print(get_origin(List[int]), get_args(Dict[str, int]), get_origin(Optional[int]), get_args(Callable[[int], str]), get_origin(int | str), get_args(int | None), get_origin(Literal['a']), get_args(Annotated[int, 5]), get_origin(int), get_args(list))
print(isinstance(3, int | str), isinstance(None, int | None), isinstance([], (dict, list | int)), issubclass(bool, int | str))
try: isinstance([], list[int])
except TypeError as e: print(e)
try: isinstance([], List[int])
except TypeError as e: print(e)
print(isinstance([], List), isinstance({}, Mapping), isinstance(3, Hashable), isinstance((x for x in []), Iterator), issubclass(dict, Mapping))
def g(a: int, b: list[int] = None, *c: str, d: 'Node', **e: Any) -> Optional[str]: pass
print(g.__annotations__)
print(get_type_hints(g))
print(get_type_hints(Node))
class Movie(TypedDict, total=False):
    title: str
    year: int
m = Movie(title='x', year=3); print(m, type(m), Movie.__annotations__, Movie.__total__, sorted(Movie.__optional_keys__))
class Emp(NamedTuple):
    name: str
    id: int = 3
print(Emp('a'), Emp._fields, Emp.__annotations__, Emp._field_defaults)
UserId = NewType('UserId', int); print(UserId(5), UserId, UserId.__name__, UserId.__supertype__)
@runtime_checkable
class Named(Protocol):
    name: str
    def hello(self) -> str: ...
class Q:
    def __init__(self): self.name = 'q'
    def hello(self): return 'h'
class R:
    def hello(self): return 'h'
print(isinstance(Q(), Named), isinstance(R(), Named))
class NR(Protocol):
    def x(self): ...
try: isinstance(3, NR)
except TypeError as e: print(e)
try: NR()
except TypeError as e: print(e)
class Impl(NR):
    def x(self): return 1
print(Impl().x())
def deco(f):
    def w(*a): return f(*a)
    w.__annotations__ = f.__annotations__
    return w
@dataclass
class D:
    a: int
    b: List[int] = field(default_factory=list)
    c: 'str' = 'x'
    d: ClassVar[int] = 1
    e: Optional[int] = None
    _: KW_ONLY
    f: float = 1.0
print(D.__doc__, [f.type for f in fields(D)], D(1))
print(make_dataclass('Z', ['x', ('y', int), ('z', int, 5)])(1, 2))
x: int = 5
y: List['int']
print(__annotations__)
if True:
    zz: str = 'a'
print(__annotations__)
def undefined():
    def h(a: Undefined): pass
try: undefined()
except NameError as e: print(e)
class C:
    if True:
        a: int = 3
    lst: list[int] = []
    lst[0:0]: Any = []
print(C.__annotations__)
def outer():
    class Loc: pass
    def inner(a: Loc, b: 'Loc' = 3) -> Loc: return a
    return inner.__annotations__
print(list(outer()))
from functools import singledispatch, singledispatchmethod, wraps
@singledispatch
def show(x): return 'other'
@show.register
def _(x: int | float): return 'num'
@show.register
def _(x: list): return 'list'
@show.register(str)
def _(x): return 'str'
@show.register
def _(x: Union[dict, set]): return 'ds'
print([show(v) for v in (1, 2.0, [], 's', {}, set(), None)])
def k(a, /, b: int, *, c: str = 'x'): pass
k.attr = 5
@wraps(k)
def kk(*a): pass
print(kk.attr, kk.__annotations__, kk.__name__)
try: class_ = type('X', (list[int],), {})
except TypeError as e: print('err')
print(Generic[T], Protocol[T])
print(list[int]([1,2]), dict[str, int](a=1), list[int] == list[int], hash(list[int]) == hash(list[int]), list[int].__origin__, list[int].__args__)
print(T, Union[T, int], TypeVar('X', bound=int).__bound__, TypeVar('Y', covariant=True))
