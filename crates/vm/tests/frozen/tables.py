import cowboy


class Key:
    def __init__(self, n):
        self.n = n

    def __hash__(self):
        return self.n % 3

    def __eq__(self, other):
        return self.n == other.n


async def main():
    big = {}
    out = []
    keys = {Key(n): n for n in range(12)}
    names = set()
    frozen = frozenset(['x', 'y', (1, 2)])
    mixed = {1: 'int', 'one': 'str', 2.5: 'float', None: 'none', True: 'bool', b'b': 'bytes', 3 + 2**64: 'big'}
    for n in range(6):
        for i in range(20):
            big[n * 20 + i] = i
            names.add('n%d' % i)
        for i in range(0, 15, 2):
            del big[n * 20 + i]
            names.discard('n%d' % i)
        walk = iter(big)
        first = [next(walk) for _ in range(3)]
        try:
            value = await cowboy.submit_job(n)
        except RuntimeError:
            value = None
        out.append((first, [next(walk) for _ in range(5)], value))
        keys.pop(Key(n))
        out.append((keys[Key(11)], Key(n) in keys, len(keys), (1, 2) in frozen))
        out.append((len(names), len(big), mixed[3 + 2**64], mixed[b'b'], mixed[1], mixed[None]))
    return repr((out, list(big)[:10], sorted(names)[:3]))
