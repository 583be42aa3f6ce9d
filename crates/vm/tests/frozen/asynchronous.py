import cowboy

log = []


async def ask(n):
    try:
        return await cowboy.submit_job(n)
    except RuntimeError as error:
        return str(error)


class Session:
    def __init__(self, name):
        self.name = name

    async def __aenter__(self):
        log.append(('enter', self.name, await ask('enter')))
        return self

    async def __aexit__(self, kind, error, traceback):
        log.append(('exit', self.name, kind.__name__ if kind else None, await ask('exit')))
        return kind is KeyError


class Pages:
    def __init__(self, count):
        self.left = count

    def __aiter__(self):
        return self

    async def __anext__(self):
        if not self.left:
            raise StopAsyncIteration
        self.left -= 1
        return await ask(('page', self.left))


async def stream(count):
    try:
        for n in range(count):
            got = yield (n, await ask(n))
            if got:
                log.append(('got', got))
    finally:
        log.append(('closed', await ask('close')))


async def early(n):
    async with Session('outer') as outer:
        for i in range(n):
            async with Session('inner%d' % i):
                if i == 1:
                    return outer.name, i


async def main():
    out = []
    async with Session('a') as a, Session('b') as b:
        out.append((a.name, b.name, await ask('inside')))
    async with Session('swallows'):
        raise KeyError('gone')
    try:
        async with Session('passes'):
            raise ValueError('seen')
    except ValueError as error:
        out.append(repr(error))
    async for page in Pages(3):
        out.append(page)
    else:
        out.append('no more')
    async for item in stream(3):
        if item[0] == 1:
            continue
        out.append(item)
    other = stream(5)
    out.append(await other.__anext__())
    out.append(await other.asend('hello'))
    await other.aclose()
    out.append([x async for x in stream(2)])
    out.append({k: v async for k, v in stream(2) if k})
    lazy = (value async for _, value in stream(2))
    out.append([value async for value in lazy])
    out.append(await anext(stream(0), 'empty'))
    out.append(await early(3))
    async with cowboy.TaskGroup() as group:
        tasks = [group.create_task(ask(n)) for n in range(3)]
    out.append([task.result() for task in tasks])
    return repr((out, log))
