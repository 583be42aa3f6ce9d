# Iteration.

def _iter_by_index(value):
    index = 0
    while True:
        try:
            item = value[index]
        except (IndexError, StopIteration):
            return
        yield item
        index += 1


def _reversed_by_index(value):
    index = len(value) - 1
    while index >= 0:
        yield value[index]
        index -= 1


def _iter_until(function, sentinel):
    while True:
        value = function()
        if value == sentinel:
            return
        yield value


def _enumerate(cls, iterable, start=0):
    return _enumerate_steps(iter(iterable), start)


def _enumerate_steps(iterator, count):
    for item in iterator:
        yield count, item
        count += 1


def _zip(cls, *iterables, strict=False):
    return _zip_steps([iter(iterable) for iterable in iterables], strict)


def _zip_steps(iterators, strict):
    if not iterators:
        return
    while True:
        items = []
        for iterator in iterators:
            item = next(iterator, _nothing)
            if item is _nothing:
                if strict:
                    at = len(items)
                    if at > 0:
                        raise ValueError('zip() argument ' + str(at + 1) + ' is shorter than argument' + (' 1' if at == 1 else 's 1-' + str(at)))
                    index = 1
                    while index < len(iterators):
                        if next(iterators[index], _nothing) is not _nothing:
                            raise ValueError('zip() argument ' + str(index + 1) + ' is longer than argument' + (' 1' if index == 1 else 's 1-' + str(index)))
                        index += 1
                return
            items.append(item)
        yield tuple(items)


def map(function=None, iterable=_nothing, /, *more):
    if iterable is _nothing:
        raise TypeError('map() must have at least two arguments.')
    if more:
        return _map_many(function, zip(iterable, *more))
    return _map_one(function, iter(iterable))


def _map_one(function, iterator):
    for item in iterator:
        yield function(item)


def _map_many(function, rows):
    for row in rows:
        yield function(*row)


def filter(function, iterable=_nothing, /):
    if iterable is _nothing:
        raise TypeError('filter expected 2 arguments, got 1')
    return _filter_steps(function, iter(iterable))


def _filter_steps(function, iterator):
    if function is None:
        for item in iterator:
            if item:
                yield item
    else:
        for item in iterator:
            if function(item):
                yield item


def _any(iterable):
    for item in iterable:
        if item:
            return True
    return False


def _all(iterable):
    for item in iterable:
        if not item:
            return False
    return True


def _sum(iterable, start=0):
    if isinstance(start, str):
        raise TypeError("sum() can't sum strings [use ''.join(seq) instead]")
    for item in iterable:
        start = start + item
    return start


def _prod(iterable, start=1):
    for item in iterable:
        start = start * item
    return start


def _take(iterable, count):
    # No more than are asked for: what comes after them stays in the iterator.
    made = []
    for item in iterable:
        made.append(item)
        if len(made) == count:
            break
    return made


def _min(*args, key=None, default=_nothing):
    return _extreme(args, key, default, False)


def _max(*args, key=None, default=_nothing):
    return _extreme(args, key, default, True)


def _extreme(args, key, default, largest):
    if not args:
        raise TypeError(('max' if largest else 'min') + ' expected at least 1 argument, got 0')
    if len(args) > 1 and default is not _nothing:
        raise TypeError('Cannot specify a default for ' + ('max' if largest else 'min') + '() with multiple positional arguments')
    items = args[0] if len(args) == 1 else args
    best = _nothing
    for item in items:
        rank = item if key is None else key(item)
        if best is _nothing or (rank > best_rank if largest else rank < best_rank):
            best = item
            best_rank = rank
    if best is _nothing:
        if default is _nothing:
            raise ValueError(('max' if largest else 'min') + '() arg is an empty sequence')
        return default
    return best


def _sorted(*args, key=None, reverse=False):
    if len(args) != 1:
        raise TypeError('sorted expected 1 argument, got ' + str(len(args)))
    items = [item for item in args[0]]
    keys = items if key is None else [key(item) for item in items]
    return _sort_by(items, keys, reverse)


def _list_sort(items, /, *args, key=None, reverse=False):
    if args:
        raise TypeError('sort() takes no positional arguments')
    copy = items[:]
    keys = copy if key is None else [key(item) for item in copy]
    items[:] = _sort_by(copy, keys, reverse)


def _merge_sort(items, keys, reverse):
    if not isinstance(reverse, int):
        reverse = _index(reverse)
    order = list(range(len(items)))
    if reverse:
        order.reverse()
    width = 1
    count = len(order)
    while width < count:
        merged = []
        start = 0
        while start < count:
            middle = min(start + width, count)
            end = min(start + 2 * width, count)
            left = start
            right = middle
            while left < middle and right < end:
                if keys[order[right]] < keys[order[left]]:
                    merged.append(order[right])
                    right += 1
                else:
                    merged.append(order[left])
                    left += 1
            merged += order[left:middle]
            merged += order[right:end]
            start = end
        order = merged
        width *= 2
    if reverse:
        order.reverse()
    return [items[index] for index in order]
