from dataclasses import dataclass
from enum import Enum
class Color(Enum): RED = 1; BLUE = 2
@dataclass
class Pt: x: int; y: int
class Cust:
    __match_args__ = ('a', 'b')
    def __init__(s, a, b): s.a, s.b = a, b
class consts: MAX = 100
def m(v):
    match v:
        case None: return 'none'
        case True: return 'true'
        case 0 | 1 | 2 as small: return f'small {small}'
        case -5: return 'minus five'
        case 1.5: return 'float'
        case 'hello' | "bye": return 'greet'
        case b'by': return 'bytes'
        case consts.MAX: return 'max'
        case Color.RED: return 'red'
        case int(n) if n > 1000: return f'big {n}'
        case int() | float(): return 'num'
        case str(s) if s.startswith('x'): return 'x' + s
        case str(): return 'str'
        case []: return 'empty'
        case [x]: return f'one {x}'
        case [1, *rest]: return f'1+{rest}'
        case (a, b) if a == b: return 'pair same'
        case [Pt(x=0, y=0), *_]: return 'origin list'
        case [[a, b], c]: return f'nested {a} {b} {c}'
        case [a, *_, z]: return f'ends {a} {z}'
        case {'type': 'circle', 'r': r}: return f'circle {r}'
        case {'type': str(t), **rest} if rest: return f'{t} {rest}'
        case {'k': [_, {'deep': d}]}: return f'deep {d}'
        case {1: one, 'n': None}: return f'mixed {one}'
        case {}: return f'dict {len(v)}'
        case Pt(0, y): return f'y axis {y}'
        case Pt(x, 0): return f'x axis {x}'
        case Pt(x=px, y=py) if px == py: return 'diag'
        case Pt(): return 'pt'
        case Cust(1, b=bb): return f'cust1 {bb}'
        case Cust(a, b): return f'cust {a} {b}'
        case set() | frozenset(): return 'set'
        case _: return f'other {type(v).__name__}'
for v in [None, True, False, 0, 1, 2, 3, -5, 1.5, 2.5, 'hello', 'bye', 'xyz', 'abc', b'by', b'no', 100, 1001, Color.RED, Color.BLUE, [], [5], [1, 2, 3], (1, 2), (4, 4), [Pt(0, 0), 1], [[1, 2], 3], [5, 6, 7], {'type': 'circle', 'r': 2}, {'type': 'sq', 'w': 1}, {'type': 'sq'}, {'k': [1, {'deep': 'D'}]}, {1: 'uno', 'n': None}, {}, Pt(0, 3), Pt(3, 0), Pt(2, 2), Pt(1, 2), Cust(1, 2), Cust(3, 4), {1}, frozenset(), object, range(3), 'x', bytearray(b'q')]:
    print(v if not isinstance(v, (Cust, type)) else 'obj', '->', m(v))
def cmd(line):
    match line.split():
        case ['go', ('north' | 'south') as d]: return d
        case ['get', *items] if items: return items
        case ['quit' | 'q']: return 'bye'
        case [w, *_] if len(w) > 5: return 'long'
        case [] : return 'nothing'
        case _: return '?'
for l in ('go north', 'go up', 'get a b', 'get', 'q', 'longer word', ''): print(cmd(l))
match 5:
    case x: print('bound', x)
match (1, 2):
    case 1, y: print('tuple', y)
match {'a': 1, 'b': 2}:
    case {'a': a, **kw}: print(a, kw)
x = 7
match x:
    case 1: print('no')
print('fell through')
try:
    match Pt(1, 2):
        case Pt(1, 2, 3): pass
except TypeError as e: print(e)
class NoArgs: pass
try:
    match NoArgs():
        case NoArgs(1): pass
except TypeError as e: print(e)
match 'abc':
    case [a, b, c]: print('no')
    case str(): print('strings are no sequences')
match [1, [2, [3, [4]]]]:
    case [a, [b, [c, [d]]]]: print(a, b, c, d)
match = 5; case = 6; print(match + case)
def f(type): return type
print(f(3)); _ = 9; print(_)
match (1, 'a', [2]):
    case (int(i), str(s), list(l)): print(i, s, l)
match {'x': {'y': [1, 2, {'z': 3}]}}:
    case {'x': {'y': [*_, {'z': zz}]}}: print(zz)
match 3+0:
    case 1 | 2: print('a')
    case 3 if False: print('b')
    case 3: print('c')
