import functools
import itertools
import operator
from functools import lru_cache, partial, partialmethod, reduce, singledispatch, wraps


def compose(*functions):
    return reduce(lambda f, g: lambda x: f(g(x)), functions, lambda x: x)


def curry(function, arity=None, *args):
    arity = arity or function.__code__.co_argcount
    if len(args) >= arity:
        return function(*args)
    return lambda *more: curry(function, arity, *args, *more)


def memoize(function):
    table = {}

    @wraps(function)
    def wrapper(*args):
        if args not in table:
            table[args] = function(*args)
        return table[args]
    wrapper.table = table
    return wrapper


def retry(times, *errors):
    def decorate(function):
        @wraps(function)
        def wrapper(*args, **kwargs):
            for attempt in range(times):
                try:
                    return function(*args, attempt=attempt, **kwargs)
                except errors as error:
                    last = f'{type(error).__name__}:{error}'
            return last
        return wrapper
    return decorate


@memoize
def ackermann(m, n):
    """Grows."""
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


@retry(3, ValueError, KeyError)
def flaky(limit, attempt):
    if attempt < limit:
        raise ValueError(f'attempt {attempt}')
    return attempt


@singledispatch
def show(value):
    return f'object {value!r}'


@show.register
def _(value: int):
    return f'int {value}'


@show.register(list)
def _(value):
    return 'list of ' + ', '.join(map(show, value))


class Cell:
    def __init__(self):
        self.state = 'off'

    def set_state(self, state, loud=False):
        self.state = state.upper() if loud else state
        return self.state

    on = partialmethod(set_state, 'on')
    shout = partialmethod(set_state, 'on', loud=True)


print(compose(str, abs, lambda x: x - 10)(3), ackermann(2, 3), len(ackermann.table), ackermann.__name__, ackermann.__doc__)
print(flaky(2), flaky(5), show(5), show([1, 'a', [2]]), show(2.5), show(True))
print(partial(int, base=2)('101'), partial(print, 'a', sep='-').args, Cell().on(), Cell().shout())
print(reduce(operator.mul, range(1, 6), 1), reduce(lambda a, b: b + a, 'abc'), list(itertools.accumulate('abc')))
add = lambda a, b, c: a + b + c
print(curry(add, 3)(1)(2)(3), curry(add, 3)(1, 2)(3), curry(add, 3)(1)(2, 3))


@lru_cache(maxsize=2)
def square(n):
    calls.append(n)
    return n * n


calls = []
print([square(n) for n in (1, 2, 1, 3, 2, 1)], calls, square.cache_info(), square.__wrapped__(9))
square.cache_clear()
print(square.cache_info())
print(list(map(lambda pair: pair[0] * pair[1], zip([1, 2], [3, 4]))), list(filter(None, [0, 1, '', 'a'])), sum(map(len, ['a', 'bb'])))


class Numbers:
    @functools.cached_property
    def total(self):
        print('computing')
        return sum(range(10))


n = Numbers()
print(n.total, n.total)
print(operator.itemgetter(1)([1, 2]), operator.attrgetter('real')(3), operator.methodcaller('upper')('x'), operator.not_(0), operator.contains([1], 1))
