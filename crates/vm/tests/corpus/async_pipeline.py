# Coroutines driven by hand: no event loop needed.
class Suspend:
    def __init__(self, value):
        self.value = value

    def __await__(self):
        return (yield self.value)


async def fetch(name):
    answer = await Suspend(('fetch', name))
    if answer is None:
        raise LookupError(name)
    return answer


async def total(names):
    out = 0
    for name in names:
        try:
            out += await fetch(name)
        except LookupError as error:
            log.append(f'missing {error}')
    return out


class Session:
    async def __aenter__(self):
        await Suspend('open')
        return self

    async def __aexit__(self, kind, error, trace):
        await Suspend('close')
        return kind is ValueError


async def numbers(n):
    for i in range(n):
        await Suspend(('tick', i))
        yield i


async def main():
    async with Session() as session:
        log.append(type(session).__name__)
        log.append(await total(['a', 'b', 'c']))
        raise ValueError('swallowed')
    log.append([i async for i in numbers(3) if i != 1])
    async for i in numbers(2):
        log.append(i)
    else:
        log.append('end')
    return sum([await fetch(name) for name in 'aa'])


def drive(coroutine, answers):
    value = None
    while True:
        try:
            request = coroutine.send(value)
        except StopIteration as stop:
            return stop.value
        log.append(request)
        value = answers.get(request[1]) if isinstance(request, tuple) and request[0] == 'fetch' else None


log = []
print(drive(main(), {'a': 1, 'c': 30}))
for entry in log:
    print(entry)
c = fetch('x')
print(c.send(None))
try:
    c.throw(KeyError('thrown'))
except KeyError as error:
    print('out', error)
c = fetch('never')
c.close()
try:
    c.send(None)
except RuntimeError as error:
    print(error)
