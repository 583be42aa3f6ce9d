import re
from dataclasses import dataclass
from typing import Union
TOKEN = re.compile(r'\s*(?:(\d+\.?\d*)|(\*\*|[-+*/%()=,])|([A-Za-z_]\w*))')
def tokenize(text):
    pos = 0
    while pos < len(text.rstrip()):
        m = TOKEN.match(text, pos)
        if not m: raise SyntaxError(f'bad character {text[pos]!r} at {pos}')
        pos = m.end()
        num, op, name = m.groups()
        if num: yield ('num', float(num) if '.' in num else int(num))
        elif op: yield ('op', op)
        else: yield ('name', name)
    yield ('end', None)
class Parser:
    PREC = {'+': (1, 'L'), '-': (1, 'L'), '*': (2, 'L'), '/': (2, 'L'), '%': (2, 'L'), '**': (4, 'R')}
    def __init__(self, text): self.toks = list(tokenize(text)); self.i = 0
    @property
    def cur(self): return self.toks[self.i]
    def next(self): t = self.cur; self.i += 1; return t
    def expect(self, v):
        if self.cur[1] != v: raise SyntaxError(f'expected {v!r}, got {self.cur[1]!r}')
        return self.next()
    def parse(self):
        if self.cur[0] == 'name' and self.toks[self.i + 1][1] == '=':
            name = self.next()[1]; self.next(); return ('assign', name, self.expr(0))
        e = self.expr(0)
        if self.cur[0] != 'end': raise SyntaxError(f'trailing {self.cur[1]!r}')
        return e
    def expr(self, minp):
        left = self.unary()
        while self.cur[0] == 'op' and self.cur[1] in self.PREC:
            p, assoc = self.PREC[self.cur[1]]
            if p < minp: break
            op = self.next()[1]
            left = ('bin', op, left, self.expr(p + 1 if assoc == 'L' else p))
        return left
    def unary(self):
        if self.cur == ('op', '-'): self.next(); return ('neg', self.expr(3))
        return self.atom()
    def atom(self):
        k, v = self.next()
        match k, v:
            case 'num', n: return ('num', n)
            case 'name', n if self.cur == ('op', '('):
                self.next(); args = []
                while self.cur[1] != ')':
                    args.append(self.expr(0))
                    if self.cur[1] == ',': self.next()
                self.expect(')')
                return ('call', n, args)
            case 'name', n: return ('var', n)
            case 'op', '(':
                e = self.expr(0); self.expect(')'); return e
            case _: raise SyntaxError(f'unexpected {v!r}')
import math, operator
OPS = {'+': operator.add, '-': operator.sub, '*': operator.mul, '/': operator.truediv, '%': operator.mod, '**': pow}
def ev(node, env):
    match node:
        case ('num', n): return n
        case ('neg', e): return -ev(e, env)
        case ('var', n):
            try: return env[n]
            except KeyError: raise NameError(f'undefined: {n}') from None
        case ('bin', op, l, r): return OPS[op](ev(l, env), ev(r, env))
        case ('call', f, args): return {'max': max, 'min': min, 'sqrt': math.sqrt, 'sum': lambda *a: sum(a)}[f](*(ev(a, env) for a in args))
        case ('assign', n, e): env[n] = ev(e, env); return env[n]
env = {'pi': math.pi}
for src in ['1 + 2 * 3', '(1+2)*3', '2 ** 3 ** 2', '-2 ** 2', 'x = 10 % 4', 'x * 2.5', 'max(1, x, 7/2)', 'sqrt(16) + sum(1,2,3)', '1 +', '2 $ 3', 'y', '1 / 0', '(1', '8 - 3 - 2', '2 * (3 + 4) * 5', 'f(1)', '-(-3)', '--4', '1.5.2']:
    try: print(f'{src:<24} => {ev(Parser(src).parse(), env)!r}')
    except (SyntaxError, NameError, ZeroDivisionError, KeyError) as e: print(f'{src:<24} !! {type(e).__name__}: {e}')
