from dataclasses import dataclass


@dataclass
class Num:
    value: float


@dataclass
class Bin:
    op: str
    left: object
    right: object


@dataclass
class Neg:
    inner: object


def simplify(node):
    match node:
        case Bin('+', Num(0), x) | Bin('+', x, Num(0)):
            return simplify(x)
        case Bin('*', Num(0), _) | Bin('*', _, Num(0)):
            return Num(0)
        case Bin('*', Num(1), x) | Bin('*', x, Num(1)):
            return simplify(x)
        case Bin(op, Num(a), Num(b)) if op in '+-*':
            return Num({'+': a + b, '-': a - b, '*': a * b}[op])
        case Bin(op, left, right):
            new = Bin(op, simplify(left), simplify(right))
            return new if new == node else simplify(new)
        case Neg(Neg(x)):
            return simplify(x)
        case Neg(Num(value=v)):
            return Num(-v)
        case _:
            return node


def command(text):
    match text.split():
        case []:
            return 'nothing'
        case ['go', ('north' | 'south') as direction]:
            return f'going {direction}'
        case ['go', other]:
            return f'cannot go {other}'
        case ['take', item, *rest] if not rest:
            return f'took {item}'
        case ['take', *items]:
            return f'took {len(items)}: {items[0]}..{items[-1]}'
        case [verb, *_, last]:
            return f'{verb}...{last}'
        case [single]:
            return f'only {single}'


def kind(value):
    match value:
        case None: return 'none'
        case True | False: return 'bool'
        case int(n) if n > 100: return f'big {n}'
        case int() | float(): return 'number'
        case str() as s if s.startswith('x'): return 'x-text'
        case '': return 'empty'
        case str(): return 'text'
        case (): return 'unit'
        case (x,): return f'one {x}'
        case (x, y) | [x, y, _]: return f'pair-like {x} {y}'
        case [first, *middle, last] if len(middle) > 1: return f'long {first} {last} {middle}'
        case {'type': 'user', 'name': str(name), **rest}: return f'user {name} {sorted(rest)}'
        case {'type': t}: return f'typed {t}'
        case {}: return 'dict'
        case _: return type(value).__name__


tree = Bin('+', Bin('*', Num(1), Bin('+', Num(2), Num(3))), Bin('*', Num(0), Neg(Num(7))))
print(simplify(tree), simplify(Neg(Neg(Bin('-', Num(5), Num(2))))), simplify(Bin('/', Num(1), Neg(Num(2)))))
for text in ('', 'go north', 'go west', 'take lamp', 'take a b c', 'look at the sky', 'wait'):
    print(repr(text), command(text))
for value in (None, True, 500, 5, 2.5, 'xyz', '', 'abc', (), (1,), (1, 2), [1, 2, 3], [1, 2, 3, 4], {'type': 'user', 'name': 'ann', 'age': 1, 'b': 2}, {'type': 'user'}, {}, {'a': 1}, {1, 2}, b'x', range(2)):
    print(kind(value))


class Point:
    __match_args__ = ('x', 'y')

    def __init__(self, x, y):
        self.x, self.y = x, y


for point in (Point(0, 0), Point(0, 5), Point(3, 3), Point(1, 2), 'no'):
    match point:
        case Point(0, 0): print('origin')
        case Point(x=0, y=y): print('on y', y)
        case Point(x, y) if x == y: print('diagonal', x)
        case Point(x, y): print('at', x, y)
        case other: print('else', other)
match [[1, [2, 3]], {'k': [4, {'deep': 5}]}]:
    case [[a, [b, *c]], {'k': [d, {'deep': e}]}]:
        print(a, b, c, d, e)
