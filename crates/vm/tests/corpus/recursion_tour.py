import sys
from functools import lru_cache


def ackermann(m, n):
    return n + 1 if m == 0 else ackermann(m - 1, 1) if n == 0 else ackermann(m - 1, ackermann(m, n - 1))


def flatten(x):
    return [x] if not isinstance(x, (list, tuple)) else [z for y in x for z in flatten(y)]


def power_set(items):
    return [[]] if not items else [s + t for s in power_set(items[1:]) for t in ([], [items[0]])]


def is_even(n):
    return True if n == 0 else is_odd(n - 1)


def is_odd(n):
    return False if n == 0 else is_even(n - 1)


@lru_cache(None)
def stirling(n, k):
    if n == k:
        return 1
    if k == 0 or k > n:
        return 0
    return k * stirling(n - 1, k) + stirling(n - 1, k - 1)


def deep_equal(a, b):
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(deep_equal(a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(deep_equal, a, b))
    return a == b


def merge(a, b):
    if isinstance(a, dict) and isinstance(b, dict):
        return {k: merge(a[k], b[k]) if k in a and k in b else a.get(k, b.get(k)) for k in [*a, *(k for k in b if k not in a)]}
    return b


def walk(tree, path=()):
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from walk(value, path + (key,))
    elif isinstance(tree, list):
        for index, value in enumerate(tree):
            yield from walk(value, path + (index,))
    else:
        yield '.'.join(map(str, path)), tree


def trampoline(function, *args):
    result = function(*args)
    while callable(result):
        result = result()
    return result


def count_down(n, acc=0):
    return acc if n == 0 else lambda: count_down(n - 1, acc + n)


def sierpinski(n):
    if n == 0:
        return ['*']
    smaller = sierpinski(n - 1)
    pad = ' ' * 2 ** (n - 1)
    return [pad + line + pad for line in smaller] + [line + ' ' + line for line in smaller]


print(ackermann(2, 3), flatten([1, (2, [3, [4]]), [], ((5,),)]), power_set([1, 2, 3]), is_even(40), is_odd(7))
print([stirling(6, k) for k in range(7)], deep_equal({'a': [1, {'b': 2}]}, {'a': [1, {'b': 2}]}), deep_equal([1, (2,)], [1, [2]]))
print(merge({'a': 1, 'b': {'c': 2, 'd': 3}}, {'b': {'c': 9}, 'e': 5}), dict(walk({'x': [1, {'y': 2}], 'z': 'end'})))
print(trampoline(count_down, 2000))
print('\n'.join(line.rstrip() for line in sierpinski(3)))


def forever(n):
    return forever(n + 1)


try:
    forever(0)
except RecursionError as error:
    print('RecursionError', str(error).startswith('maximum recursion depth exceeded'))
print(sys.getrecursionlimit() > 100)
