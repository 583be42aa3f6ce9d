import re
from collections import namedtuple

Token = namedtuple('Token', 'kind text place')
RULES = [
    ('number', r'\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+'),
    ('name', r'[A-Za-z_]\w*'),
    ('op', r'\*\*|//|<=|>=|==|!=|[-+*/%()=,<>]'),
    ('space', r'\s+'),
    ('bad', r'.'),
]
PATTERN = re.compile('|'.join('(?P<%s>%s)' % rule for rule in RULES))


class CalcError(Exception):
    pass


def tokens(text):
    for match in PATTERN.finditer(text):
        kind = match.lastgroup
        if kind == 'space':
            continue
        if kind == 'bad':
            raise CalcError('unexpected %r at %d' % (match.group(), match.start()))
        yield Token(kind, match.group(), match.start())
    yield Token('end', '', len(text))


class Parser:
    LEVELS = [['==', '!=', '<', '<=', '>', '>='], ['+', '-'], ['*', '/', '//', '%']]
    FUNCTIONS = {'max': max, 'min': min, 'abs': abs, 'sum': lambda *args: sum(args)}

    def __init__(self, text, names):
        self.tokens = list(tokens(text))
        self.at = 0
        self.names = names

    def peek(self):
        return self.tokens[self.at]

    def take(self, *texts):
        token = self.peek()
        if token.text in texts and token.kind == 'op':
            self.at += 1
            return token.text
        return None

    def expect(self, text):
        if not self.take(text):
            raise CalcError('expected %s, got %r' % (text, self.peek().text))

    def statement(self):
        if self.peek().kind == 'name' and self.tokens[self.at + 1].text == '=':
            name = self.peek().text
            self.at += 2
            self.names[name] = self.level(0)
            value = self.names[name]
        else:
            value = self.level(0)
        if self.peek().kind != 'end':
            raise CalcError('left over: %r' % self.peek().text)
        return value

    def level(self, index):
        if index == len(self.LEVELS):
            return self.unary()
        value = self.level(index + 1)
        while True:
            op = self.take(*self.LEVELS[index])
            if op is None:
                return value
            right = self.level(index + 1)
            value = self.apply(op, value, right)

    def apply(self, op, a, b):
        match op:
            case '+': return a + b
            case '-': return a - b
            case '*': return a * b
            case '/': return a / b
            case '//': return a // b
            case '%': return a % b
            case '<': return a < b
            case '<=': return a <= b
            case '>': return a > b
            case '>=': return a >= b
            case '==': return a == b
            case '!=': return a != b

    def unary(self):
        if self.take('-'):
            return -self.unary()
        value = self.atom()
        if self.take('**'):
            return value ** self.unary()
        return value

    def atom(self):
        token = self.peek()
        self.at += 1
        if token.kind == 'number':
            return float(token.text) if any(c in token.text for c in '.eE') else int(token.text)
        if token.kind == 'name':
            if self.take('('):
                args = []
                while not self.take(')'):
                    args.append(self.level(0))
                    if not self.take(','):
                        self.expect(')')
                        break
                try:
                    return self.FUNCTIONS[token.text](*args)
                except KeyError:
                    raise CalcError('no function ' + token.text) from None
            if token.text not in self.names:
                raise CalcError('no name ' + token.text)
            return self.names[token.text]
        if token.text == '(':
            value = self.level(0)
            self.expect(')')
            return value
        raise CalcError('unexpected %r' % token.text)


names = {'pi': 3.14159}
for line in ['1 + 2 * 3', '(1 + 2) * 3', '2 ** 3 ** 2', '-2 ** 2', 'x = 7 // 2', 'x * 1.5e2', 'max(1, x, 2) + min(4, 5)', '10 % 4 < 3',
             'sum(1, 2, 3, 4)', 'nope', 'f(1)', '1 +', '3 $ 4', '(1', '1 / 0', 'y = x == 3', 'y', '.5 + 5.', '1 2']:
    try:
        print(line, '=>', Parser(line, names).statement())
    except CalcError as error:
        print(line, '!!', error)
    except ZeroDivisionError as error:
        print(line, '!! zero:', error)
print(sorted(names))
