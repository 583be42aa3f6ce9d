import cowboy


async def ask(n):
    return (await cowboy.submit_job(n)) + n


async def twice(n):
    first = await ask(n)
    return first + await ask(first)


def scaled(factor):
    count = 0

    async def inner(n):
        nonlocal count
        count += 1
        return factor * await twice(n) + count

    return inner


class Asker:
    def __init__(self, step):
        self.step = step
        self.log = []

    async def ask(self, *args, scale=1, **rest):
        value = 0
        for arg in args:
            value += scale * await ask(arg * self.step)
            self.log.append((arg, value))
        return value, rest


async def main():
    by_three = scaled(3)
    asker = Asker(2)
    out = [await by_three(1)]
    try:
        out.append(await by_three(2))
    except RuntimeError as error:
        out.append(repr(error))
    out.append(await asker.ask(1, 2, scale=5, tail='x'))
    out.append((lambda value: value * 2)((await ask(1)) if out else 0))
    return repr((out, asker.log))
