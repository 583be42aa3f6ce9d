import cowboy


async def ask(n):
    try:
        return await cowboy.submit_job(n)
    except RuntimeError:
        return -1


async def main():
    out = []
    squares = [n * n for n in range(5)]
    out.append({n: await ask(n) for n in squares if n % 2 == 0})
    out.append([await ask(n) for n in squares[:3]])
    out.append([(a, b) for a in range(2) for b in [await ask(a), a]])
    out.append(sorted({await ask(n) for n in range(2)}))
    out.append(sum([x for x in (await ask(1), await ask(2))]))
    return repr(out)
