# A small language to stack code and back: tokens, tree, code, machine.
from __future__ import annotations

import re
from typing import Iterator, NamedTuple


class Token(NamedTuple):
    kind: str
    value: str
    line: int


KEYWORDS = {'let', 'while', 'if', 'else', 'print', 'fn', 'return'}


def lex(source: str) -> Iterator[Token]:
    line = 1
    for match in re.finditer(r'(\d+)|([a-zA-Z_]\w*)|(==|!=|<=|>=|[-+*/%<>=(){};,])|(\n)|(\s+|//[^\n]*)|(.)', source):
        number, name, symbol, newline, skipped, bad = match.groups()
        if number:
            yield Token('number', number, line)
        elif name:
            yield Token(name if name in KEYWORDS else 'name', name, line)
        elif symbol:
            yield Token(symbol, symbol, line)
        elif newline:
            line += 1
        elif bad:
            raise SyntaxError(f'line {line}: {bad!r}')
    yield Token('end', '', line)


class Compiler:
    PRECEDENCE = {'==': 1, '!=': 1, '<': 2, '>': 2, '<=': 2, '>=': 2, '+': 3, '-': 3, '*': 4, '/': 4, '%': 4}

    def __init__(self, source: str):
        self.tokens = list(lex(source))
        self.at = 0
        self.code: list[tuple] = []
        self.functions: dict[str, tuple[int, list[str]]] = {}

    @property
    def token(self) -> Token:
        return self.tokens[self.at]

    def take(self, kind: str) -> Token | None:
        if self.token.kind == kind:
            self.at += 1
            return self.tokens[self.at - 1]
        return None

    def need(self, kind: str) -> Token:
        taken = self.take(kind)
        if taken is None:
            raise SyntaxError(f'line {self.token.line}: expected {kind}, got {self.token.value!r}')
        return taken

    def emit(self, *instruction) -> int:
        self.code.append(instruction)
        return len(self.code) - 1

    def program(self) -> list[tuple]:
        while not self.take('end'):
            self.statement()
        self.emit('halt')
        return self.code

    def block(self) -> None:
        self.need('{')
        while not self.take('}'):
            self.statement()

    def statement(self) -> None:
        if self.take('let'):
            name = self.need('name').value
            self.need('=')
            self.expression()
            self.need(';')
            self.emit('store', name)
        elif self.take('print'):
            self.expression()
            self.need(';')
            self.emit('print')
        elif self.take('while'):
            start = len(self.code)
            self.expression()
            exit = self.emit('jump_false', None)
            self.block()
            self.emit('jump', start)
            self.code[exit] = ('jump_false', len(self.code))
        elif self.take('if'):
            self.expression()
            skip = self.emit('jump_false', None)
            self.block()
            if self.take('else'):
                over = self.emit('jump', None)
                self.code[skip] = ('jump_false', len(self.code))
                self.block()
                self.code[over] = ('jump', len(self.code))
            else:
                self.code[skip] = ('jump_false', len(self.code))
        elif self.take('fn'):
            name = self.need('name').value
            self.need('(')
            params = []
            while not self.take(')'):
                params.append(self.need('name').value)
                self.take(',')
            over = self.emit('jump', None)
            self.functions[name] = (len(self.code), params)
            self.block()
            self.emit('push', 0)
            self.emit('return')
            self.code[over] = ('jump', len(self.code))
        elif self.take('return'):
            self.expression()
            self.need(';')
            self.emit('return')
        else:
            self.expression()
            self.need(';')
            self.emit('pop')

    def expression(self, least: int = 0) -> None:
        self.atom()
        while (level := self.PRECEDENCE.get(self.token.kind, 0)) > least:
            op = self.token.kind
            self.at += 1
            self.expression(level)
            self.emit('op', op)

    def atom(self) -> None:
        if token := self.take('number'):
            self.emit('push', int(token.value))
        elif token := self.take('name'):
            if self.take('('):
                count = 0
                while not self.take(')'):
                    self.expression()
                    count += 1
                    self.take(',')
                self.emit('call', token.value, count)
            else:
                self.emit('load', token.value)
        elif self.take('-'):
            self.emit('push', 0)
            self.atom()
            self.emit('op', '-')
        else:
            self.need('(')
            self.expression()
            self.need(')')


def run(code, functions):
    stack, frames, at, out = [], [{}], 0, []
    returns = []
    ops = {'+': lambda a, b: a + b, '-': lambda a, b: a - b, '*': lambda a, b: a * b, '/': lambda a, b: a // b, '%': lambda a, b: a % b,
           '<': lambda a, b: int(a < b), '>': lambda a, b: int(a > b), '<=': lambda a, b: int(a <= b), '>=': lambda a, b: int(a >= b),
           '==': lambda a, b: int(a == b), '!=': lambda a, b: int(a != b)}
    while True:
        name, *args = code[at]
        at += 1
        match name, args:
            case 'halt', _:
                return out
            case 'push', [value]:
                stack.append(value)
            case 'pop', _:
                stack.pop()
            case 'load', [variable]:
                stack.append(frames[-1].get(variable, frames[0].get(variable, 0)))
            case 'store', [variable]:
                frames[-1][variable] = stack.pop()
            case 'op', [op]:
                b, a = stack.pop(), stack.pop()
                stack.append(ops[op](a, b))
            case 'print', _:
                out.append(stack.pop())
            case 'jump', [target]:
                at = target
            case 'jump_false', [target]:
                if not stack.pop():
                    at = target
            case 'call', [function, count]:
                start, params = functions[function]
                values = stack[len(stack) - count:]
                del stack[len(stack) - count:]
                frames.append(dict(zip(params, values)))
                returns.append(at)
                at = start
            case 'return', _:
                frames.pop()
                at = returns.pop()


SOURCE = '''
let n = 10;
let a = 0; let b = 1;       // Fibonacci
while n > 0 { print a; let t = a + b; let a = b; let b = t; let n = n - 1; }
fn gcd(x, y) { if y == 0 { return x; } return gcd(y, x % y); }
fn even(x) { if x % 2 == 0 { return 1; } else { return 0; } }
print gcd(1071, 462); print even(7) + even(8) * 10; print -(2 + 3) * 4 - 1;
'''
compiler = Compiler(SOURCE)
code = compiler.program()
print(len(code), code[:6], compiler.functions)
print(run(code, compiler.functions))
for bad in ('let = 5;', 'print 1', 'let x = 5 $ 2;'):
    try:
        Compiler(bad).program()
    except SyntaxError as error:
        print(error)
