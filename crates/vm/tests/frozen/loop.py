import cowboy

LIMIT = 6


async def main():
    seen = []
    total = 0
    for i in range(LIMIT):
        while total < i * 5:
            total += 3
        try:
            value = await cowboy.submit_job({'n': i})
        except RuntimeError as error:
            seen.append(str(error))
            continue
        total += value
        seen.append((i, value, total))
    else:
        seen.append('done')
    return repr(seen)
