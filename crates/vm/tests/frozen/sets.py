import cowboy

KEPT = frozenset(range(0, 90, 7))


async def walked(numbers):
    seen = []
    for number in numbers:
        seen.append(number)
        try:
            await cowboy.submit_job({'n': number})
        except RuntimeError:
            pass
        # A look at the set in between does not move what the loop walks over.
        seen.append(len(list(numbers)))
    return seen


async def main():
    shrunk = set(range(40))
    list(shrunk)
    for number in range(40):
        if number not in (1, 8, 9, 17):
            shrunk.discard(number)
    grown = {3, 1, 2}
    for number in range(100, 0, -9):
        grown.add(number)
    made = {number * 8 for number in range(12)}
    results = [await walked(numbers) for numbers in (shrunk, grown, made, KEPT, {1, 'a'} - {'a'})]
    shrunk.add(33)
    shrunk.add(65)
    results.append(await walked(shrunk))
    return repr(results)
