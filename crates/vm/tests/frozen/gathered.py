import cowboy

order = []


async def ask(n):
    try:
        return await cowboy.submit_job(n)
    except RuntimeError as error:
        return str(error)


async def chained(name, count):
    total = []
    for n in range(count):
        total.append(await ask((name, n)))
    return name, total


async def nested():
    inner = await cowboy.gather(chained('x', 2), chained('y', 1))
    return inner + [await ask('after')]


async def failing():
    await ask('first')
    raise KeyError('no')


async def main():
    out = []
    out.append(await cowboy.gather(*[ask(n) for n in range(3)]))
    # The nested ones begin later under CPython: they are last, so that the jobs have the same order.
    out.append(await cowboy.gather(chained('a', 3), ask('b'), nested()))
    out.append(await cowboy.gather())
    mixed = await cowboy.gather(ask(1), failing(), return_exceptions=True)
    out.append([repr(value) for value in mixed])
    try:
        await cowboy.gather(failing(), ask(2))
    except KeyError as error:
        out.append(repr(error))
    return repr(out)
