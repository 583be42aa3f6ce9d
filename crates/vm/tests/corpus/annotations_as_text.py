from __future__ import annotations
import typing
from dataclasses import dataclass, field, fields, InitVar, KW_ONLY
from typing import ClassVar, Optional, List
def f(a: int, b: 'str' = '', *args: float, c: Nope = 3, **kw: dict[str, int]) -> List[int]: ...
print(f.__annotations__)
@dataclass
class P:
    x: int
    y: Optional[P] = None
    n: ClassVar[int] = 3
    z: InitVar[int] = 0
    _: KW_ONLY
    k: str = 'q'
    def __post_init__(self, z): self.zz = z
p = P(1, z=5)
print(p, p.zz, [(q.name, q.type) for q in fields(P)])
print({k: v for k, v in typing.get_type_hints(P).items() if k != "_"})
x: undefined_name = 3
print(__annotations__)
class Row(typing.NamedTuple):
    a: int
    b: 'str' = 'q'
class Table(typing.TypedDict):
    row: Row
print(Row.__annotations__, list(Table.__annotations__), Row(1), typing.get_type_hints(Row))
