import cowboy
from itertools import chain, islice


def countdown(n):
    try:
        while n:
            got = yield n
            n -= got or 1
    finally:
        log.append('closed')


def nested(depth):
    if depth:
        yield depth
        yield from nested(depth - 1)
        yield -depth


log = []


async def main():
    down = countdown(20)
    deep = nested(4)
    pairs = enumerate('abcdef')
    rows = zip([1, 2, 3, 4, 5, 6], range(100), 'uvwxyz')
    table = {'a': 1, 'b': 2, 'c': 3, 'd': 4, 'e': 5}
    items = iter(table.items())
    back = reversed([1, 2, 3, 4, 5, 6])
    joined = chain([1, 2], (3, 4), countdown(2))
    mapped = map(lambda x: x * 2, range(10))
    unused = (x for x in [1, 2, 3])
    out = [next(down)]
    for n in range(5):
        step = [down.send(n % 3), next(deep), next(pairs), next(rows), next(items), next(back)]
        step += [next(joined), next(mapped)]
        try:
            step.append(await cowboy.submit_job(n))
        except RuntimeError as error:
            step.append(str(error))
        out.append(step)
    out.append(list(islice(deep, 3)) + list(unused))
    down.close()
    out.append(list(mapped))
    return repr((out, log))
