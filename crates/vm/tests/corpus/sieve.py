def sieve(n):
    marks = [True] * (n + 1)
    marks[0:2] = [False, False]
    for i in range(2, int(n ** 0.5) + 1):
        if marks[i]:
            for j in range(i * i, n + 1, i):
                marks[j] = False
    return [i for i, prime in enumerate(marks) if prime]

primes = sieve(2000)
print(len(primes), primes[:10], primes[-1], sum(primes))

def factor(n):
    out = []
    d = 2
    while d * d <= n:
        while n % d == 0:
            out.append(d)
            n //= d
        d += 1
    if n > 1:
        out.append(n)
    return out

for n in (1, 12, 97, 360, 2 ** 20 + 7, 600851475143):
    print(n, factor(n), "x".join(map(str, factor(n))))
