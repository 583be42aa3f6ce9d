from itertools import count, islice, takewhile


def eratosthenes(limit):
    sieve = bytearray([1]) * (limit + 1)
    sieve[0:2] = b'\0\0'
    for n in range(2, int(limit ** 0.5) + 1):
        if sieve[n]:
            sieve[n * n::n] = bytes(len(range(n * n, limit + 1, n)))
    return [n for n, flag in enumerate(sieve) if flag]


def incremental():
    composites = {}
    for n in count(2):
        if n not in composites:
            yield n
            composites[n * n] = [n]
        else:
            for p in composites.pop(n):
                composites.setdefault(n + p, []).append(p)


def sundaram(limit):
    k = (limit - 2) // 2
    crossed = {i + j + 2 * i * j for i in range(1, k + 1) for j in range(i, (k - i) // (2 * i + 1) + 1)}
    return [2] + [2 * n + 1 for n in range(1, k + 1) if n not in crossed]


def totients(limit):
    phi = list(range(limit + 1))
    for p in range(2, limit + 1):
        if phi[p] == p:
            for n in range(p, limit + 1, p):
                phi[n] -= phi[n] // p
    return phi


def divisors(n):
    small = [d for d in range(1, int(n ** 0.5) + 1) if n % d == 0]
    return small + [n // d for d in reversed(small) if d * d != n]


primes = eratosthenes(200)
print(primes == list(takewhile(lambda p: p <= 200, incremental())) == sundaram(201), len(primes), primes[-5:], len(eratosthenes(20000)))
print(list(islice(incremental(), 100, 105)), totients(20)[1:], divisors(360), [n for n in range(2, 1000) if sum(divisors(n)) == 2 * n])
print([(p, p + 2) for p in primes if p + 2 in set(primes)][-4:], [n for n in range(4, 30, 2) if not any(n - p in primes for p in primes if p <= n)])
gaps = [b - a for a, b in zip(primes, primes[1:])]
print(max(gaps), primes[gaps.index(max(gaps))], sum(primes), {g: gaps.count(g) for g in sorted(set(gaps))})


def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


best = max(range(1, 400), key=collatz)
print(best, collatz(best), [collatz(n) for n in range(1, 15)])
print([n for n in range(1, 1000) if n == sum(int(d) ** len(str(n)) for d in str(n))], [n for n in range(10, 300) if str(n * n).endswith(str(n))])
