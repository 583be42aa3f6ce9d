_nothing = object()


def count(start=0, step=1):
    while True:
        yield start
        start += step


def cycle(iterable):
    saved = []
    for item in iterable:
        yield item
        saved.append(item)
    while saved:
        for item in saved:
            yield item


def repeat(value, times=None):
    if times is None:
        while True:
            yield value
    for _ in range(times):
        yield value


def accumulate(iterable, func=None, *, initial=_nothing):
    iterator = iter(iterable)
    total = initial
    if initial is _nothing:
        total = next(iterator, _nothing)
        if total is _nothing:
            return
    yield total
    for item in iterator:
        total = total + item if func is None else func(total, item)
        yield total


class chain:
    def __init__(self, *iterables):
        self._steps = _chain(iterables)

    def __iter__(self):
        return self._steps

    def __next__(self):
        return next(self._steps)

    @classmethod
    def from_iterable(cls, iterables):
        return _chain(iterables)


def _chain(iterables):
    for iterable in iterables:
        for item in iterable:
            yield item


def compress(data, selectors):
    for item, keep in zip(data, selectors):
        if keep:
            yield item


def dropwhile(predicate, iterable):
    iterator = iter(iterable)
    for item in iterator:
        if not predicate(item):
            yield item
            break
    for item in iterator:
        yield item


def takewhile(predicate, iterable):
    for item in iterable:
        if not predicate(item):
            break
        yield item


def filterfalse(predicate, iterable):
    for item in iterable:
        if not (item if predicate is None else predicate(item)):
            yield item


def islice(iterable, *args):
    part = slice(*args)
    start = part.start or 0
    stop = part.stop
    step = part.step or 1
    if start < 0 or (stop is not None and stop < 0) or step < 1:
        raise ValueError('Indices for islice() must be None or an integer: 0 <= x <= sys.maxsize.')
    return _islice(iter(iterable), start, stop, step)


def _islice(iterator, start, stop, step):
    if stop is not None and start >= stop:
        for _ in range(stop):
            next(iterator, None)
        return
    index = 0
    wanted = start
    for item in iterator:
        if index == wanted:
            yield item
            wanted += step
        index += 1
        if stop is not None and (index >= stop or wanted >= stop):
            return


def pairwise(iterable):
    iterator = iter(iterable)
    previous = next(iterator, _nothing)
    if previous is _nothing:
        return
    for item in iterator:
        yield previous, item
        previous = item


def starmap(function, iterable):
    for args in iterable:
        yield function(*args)


def tee(iterable, n=2):
    if n < 0:
        raise ValueError('n must be >= 0')
    iterator = iter(iterable)
    queues = [[] for _ in range(n)]

    def steps(mine):
        while True:
            if not mine:
                item = next(iterator, _nothing)
                if item is _nothing:
                    return
                for queue in queues:
                    queue.append(item)
            yield mine.pop(0)
    return tuple([steps(queue) for queue in queues])


def zip_longest(*iterables, fillvalue=None):
    iterators = [iter(iterable) for iterable in iterables]
    left = len(iterators)
    if not left:
        return
    done = [False] * left
    while True:
        row = []
        for index in range(len(iterators)):
            item = fillvalue
            if not done[index]:
                item = next(iterators[index], _nothing)
                if item is _nothing:
                    done[index] = True
                    left -= 1
                    if not left:
                        return
                    item = fillvalue
            row.append(item)
        yield tuple(row)


def batched(iterable, n):
    if n < 1:
        raise ValueError('n must be at least one')
    batch = []
    for item in iterable:
        batch.append(item)
        if len(batch) == n:
            yield tuple(batch)
            batch = []
    if batch:
        yield tuple(batch)


def groupby(iterable, key=None):
    iterator = iter(iterable)
    item = next(iterator, _nothing)
    state = [item, _nothing if item is _nothing else (item if key is None else key(item))]

    def group(mine):
        while state[0] is not _nothing and state[1] == mine:
            yield state[0]
            advance()

    def advance():
        state[0] = next(iterator, _nothing)
        if state[0] is not _nothing:
            state[1] = state[0] if key is None else key(state[0])
    while state[0] is not _nothing:
        mine = state[1]
        members = group(mine)
        yield mine, members
        for _ in members:
            pass


def product(*iterables, repeat=1):
    pools = [tuple(iterable) for iterable in iterables] * repeat
    indices = [0] * len(pools)
    for pool in pools:
        if not pool:
            return
    while True:
        yield tuple([pools[at][indices[at]] for at in range(len(pools))])
        at = len(pools) - 1
        while at >= 0:
            indices[at] += 1
            if indices[at] < len(pools[at]):
                break
            indices[at] = 0
            at -= 1
        if at < 0:
            return


def permutations(iterable, r=None):
    pool = tuple(iterable)
    n = len(pool)
    r = n if r is None else r
    if r > n:
        return
    indices = list(range(n))
    cycles = list(range(n, n - r, -1))
    yield tuple([pool[index] for index in indices[:r]])
    while n:
        at = r - 1
        while at >= 0:
            cycles[at] -= 1
            if cycles[at] == 0:
                indices[at:] = indices[at + 1:] + indices[at:at + 1]
                cycles[at] = n - at
            else:
                other = cycles[at]
                indices[at], indices[-other] = indices[-other], indices[at]
                yield tuple([pool[index] for index in indices[:r]])
                break
            at -= 1
        if at < 0:
            return


def combinations(iterable, r):
    if r < 0:
        raise ValueError('r must be non-negative')
    pool = tuple(iterable)
    n = len(pool)
    if r > n:
        return
    indices = list(range(r))
    yield tuple([pool[index] for index in indices])
    while True:
        at = r - 1
        while at >= 0 and indices[at] == at + n - r:
            at -= 1
        if at < 0:
            return
        indices[at] += 1
        for later in range(at + 1, r):
            indices[later] = indices[later - 1] + 1
        yield tuple([pool[index] for index in indices])


def combinations_with_replacement(iterable, r):
    pool = tuple(iterable)
    n = len(pool)
    if not n and r:
        return
    indices = [0] * r
    yield tuple([pool[index] for index in indices])
    while True:
        at = r - 1
        while at >= 0 and indices[at] == n - 1:
            at -= 1
        if at < 0:
            return
        indices[at:] = [indices[at] + 1] * (r - at)
        yield tuple([pool[index] for index in indices])
