import operator
import re
from functools import reduce


class Symbol(str):
    pass


def tokenize(text):
    return re.findall(r'"(?:[^"\\]|\\.)*"|;[^\n]*|[()\']|[^\s()\';"]+', text)


def parse(tokens):
    token = tokens.pop(0)
    while token.startswith(';'):
        token = tokens.pop(0)
    if token == '(':
        items = []
        while tokens[0] != ')':
            items.append(parse(tokens))
        tokens.pop(0)
        return items
    if token == "'":
        return [Symbol('quote'), parse(tokens)]
    if token == ')':
        raise SyntaxError('unexpected )')
    if token.startswith('"'):
        return token[1:-1]
    for kind in (int, float):
        try:
            return kind(token)
        except ValueError:
            pass
    return {'#t': True, '#f': False}.get(token, Symbol(token))


class Env(dict):
    def __init__(self, names=(), values=(), outer=None):
        super().__init__(zip(names, values))
        self.outer = outer

    def find(self, name):
        env = self
        while env is not None:
            if name in env:
                return env
            env = env.outer
        raise NameError(name)


class Lambda:
    def __init__(self, params, body, env):
        self.params, self.body, self.env = params, body, env

    def __call__(self, *args):
        return evaluate(self.body, Env(self.params, args, self.env))


def base():
    env = Env()
    env.update({
        '+': lambda *a: sum(a), '*': lambda *a: reduce(operator.mul, a, 1), '-': lambda a, *b: a - sum(b) if b else -a,
        '/': operator.truediv, '<': operator.lt, '>': operator.gt, '=': operator.eq, 'list': lambda *a: list(a),
        'car': lambda x: x[0], 'cdr': lambda x: x[1:], 'cons': lambda a, b: [a] + b, 'null?': lambda x: x == [],
        'map': lambda f, x: [f(i) for i in x], 'apply': lambda f, x: f(*x), 'length': len, 'not': operator.not_, 'str': lambda *a: ''.join(map(show, a)),
    })
    return env


def evaluate(x, env):
    while True:
        if isinstance(x, Symbol):
            return env.find(x)[x]
        if not isinstance(x, list):
            return x
        if not x:
            return []
        head, *rest = x
        if head == 'quote':
            return rest[0]
        if head == 'if':
            test, yes, *no = rest
            x = yes if evaluate(test, env) is not False else (no[0] if no else None)
        elif head == 'define':
            if isinstance(rest[0], list):
                name, *params = rest[0]
                env[name] = Lambda(params, [Symbol('begin'), *rest[1:]], env)
            else:
                env[rest[0]] = evaluate(rest[1], env)
            return None
        elif head == 'set!':
            env.find(rest[0])[rest[0]] = evaluate(rest[1], env)
            return None
        elif head == 'lambda':
            return Lambda(rest[0], [Symbol('begin'), *rest[1:]], env)
        elif head == 'let':
            names = [pair[0] for pair in rest[0]]
            env = Env(names, [evaluate(pair[1], env) for pair in rest[0]], env)
            x = [Symbol('begin'), *rest[1:]]
        elif head == 'begin':
            for item in rest[:-1]:
                evaluate(item, env)
            x = rest[-1]
        else:
            function = evaluate(head, env)
            args = [evaluate(item, env) for item in rest]
            if isinstance(function, Lambda):
                x, env = function.body, Env(function.params, args, function.env)
            else:
                return function(*args)


def show(value):
    if value is True or value is False:
        return '#t' if value else '#f'
    if isinstance(value, list):
        return '(' + ' '.join(map(show, value)) + ')'
    return str(value)


env = base()
for line in ['(+ 1 2 (* 3 4))', '(define (fact n) (if (< n 2) 1 (* n (fact (- n 1)))))', '(fact 20)',
             '(define (loop n acc) (if (= n 0) acc (loop (- n 1) (+ acc n))))', '(loop 1000 0)',
             "(map (lambda (x) (* x x)) '(1 2 3 4))", '(let ((a 2) (b 3)) (set! a 10) (- a b))',
             '(define (counter) (define n 0) (lambda () (set! n (+ n 1)) n))', '(define c (counter))', '(list (c) (c) (c))',
             "(define (rev l acc) (if (null? l) acc (rev (cdr l) (cons (car l) acc))))", "(rev '(1 (2 3) x) '())",
             '(if #f 1)', '(str "a b" 1 (list 1 2.5 #t))', '(undefined 1)', '(apply + (list 1 2 3))', "'()", '(/ 1 4)']:
    try:
        result = evaluate(parse(tokenize(line)), env)
        print(line, '=>', None if result is None else show(result))
    except NameError as error:
        print(line, '!! no name', error)
try:
    parse(tokenize(')'))
except SyntaxError as error:
    print(error)
