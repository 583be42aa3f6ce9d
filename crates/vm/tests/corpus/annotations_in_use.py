import functools
def enforce(f):
    hints = f.__annotations__
    @functools.wraps(f)
    def w(*args):
        for v, (name, t) in zip(args, hints.items()):
            if not isinstance(v, t): raise TypeError(f'{name}: {v!r} is not {t.__name__}')
        return f(*args)
    return w
@enforce
def add(x: int, y: int) -> int: return x + y
print(add(1, 2))
try: add(1, 'a')
except TypeError as e: print(e)
import typing
class A:
    x: int = 1
print(typing.get_type_hints(A))
class A:
    x: int = 5
    y: str
def f(a: int, b: 'str' = '') -> list[int]: ...
print(A.__annotations__, f.__annotations__)
from dataclasses import dataclass, fields
@dataclass
class P: x: int
print(fields(P)[0].type, [f.type is int for f in fields(P)])
for k, t in A.__annotations__.items(): print(k, t.__name__)
import functools
from dataclasses import dataclass
def deco(f):
    @functools.wraps(f)
    def w(*a): return f(*a)
    return w
@deco
def hello(name: str) -> str: return name
print(list(hello.__annotations__))
@dataclass
class P: x: int; y: int = 0
print(P.__doc__)
from functools import singledispatch
@singledispatch
def show(x): return 'other'
@show.register
def _(x: int | None): return 'int or none'
print(show(1), show(None), show('a'))
from typing import Union, Optional
print(isinstance('a', Union[int, str]), isinstance(None, Optional[int]))
import typing
N = typing.NewType('N', int); print(N.__name__, typing.get_origin(list[int]), typing.get_args(dict[str, int]), typing.get_args(typing.Union[int, str]))
class P(typing.Protocol):
    def f(self): ...
try: P(); print('made')
except TypeError as e: print(e)
TD = typing.TypedDict('TD', {'x': int}); print(TD(x=1))
from typing import List, Optional, Union, Dict, Callable, TypeVar
print(list[int], dict[str, list[int]], tuple[int, ...], int | None, List[int], Optional[int], Union[int, str], Dict[str, int], Callable[[int], str])
T = TypeVar('T'); print(T, T.__name__)
