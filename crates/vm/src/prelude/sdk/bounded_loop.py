# Loops with a bound of their own; the meter bounds them anyway. Each call of a decorated function has
# its count; where such calls are inside each other, the innermost one counts.
import functools
from cowboy_sdk.errors import LoopBoundExceeded

_counts = []


class _Count:
    def __init__(self, limit):
        self.limit = limit
        self.count = 0


def _leave(count):
    # Not always the last one: coroutines that run side by side end in any order.
    _counts[:] = [other for other in _counts if other is not count]


def bounded_loop(max_iterations=1000):
    def decorate(function):
        if _is_async(function):
            @functools.wraps(function)
            async def wrapper(*args, **kwargs):
                count = _Count(max_iterations)
                _counts.append(count)
                try:
                    return await function(*args, **kwargs)
                finally:
                    _leave(count)
        else:
            @functools.wraps(function)
            def wrapper(*args, **kwargs):
                count = _Count(max_iterations)
                _counts.append(count)
                try:
                    return function(*args, **kwargs)
                finally:
                    _leave(count)
        wrapper._bounded_loop_max = max_iterations
        return wrapper
    return decorate


def check_iteration():
    # How many there have been; 0 outside of such a function.
    if not _counts:
        return 0
    count = _counts[-1]
    count.count += 1
    if count.count > count.limit:
        raise LoopBoundExceeded('more than ' + str(count.limit) + ' iterations; see max_iterations of @bounded_loop')
    return count.count


class BoundedRange:
    def __init__(self, iterable_or_count):
        if isinstance(iterable_or_count, int):
            iterable_or_count = range(iterable_or_count)
        self._iter = iter(iterable_or_count)

    def __iter__(self):
        return self

    def __next__(self):
        value = next(self._iter)
        check_iteration()
        return value


class BoundedIterator:
    def __init__(self, iterable, max_iters=None):
        self._iter = iter(iterable)
        self._max = max_iters
        self._count = 0

    def __iter__(self):
        return self

    def __next__(self):
        value = next(self._iter)
        self._count += 1
        if self._max is not None and self._count > self._max:
            raise LoopBoundExceeded('more than ' + str(self._max) + ' iterations')
        check_iteration()
        return value
