from math import comb, factorial, gcd, isqrt, lcm, perm, prod


def is_prime(n):
    if n < 2:
        return False
    for p in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37):
        if n % p == 0:
            return n == p
    d, s = n - 1, 0
    while d % 2 == 0:
        d, s = d // 2, s + 1
    for a in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37):
        x = pow(a, d, n)
        if x in (1, n - 1):
            continue
        for _ in range(s - 1):
            x = x * x % n
            if x == n - 1:
                break
        else:
            return False
    return True


def egcd(a, b):
    if b == 0:
        return a, 1, 0
    g, x, y = egcd(b, a % b)
    return g, y, x - a // b * y


def factor(n):
    out = []
    p = 2
    while p * p <= n:
        while n % p == 0:
            out.append(p)
            n //= p
        p += 1 + p % 2
    return out + [n] * (n > 1)


print([n for n in range(60) if is_prime(n)], is_prime(2**61 - 1), is_prime(2**67 - 1))
print(factor(600851475143), factor(2**31 - 1), prod(factor(123456)) == 123456)
g, x, y = egcd(240, 46)
print(g, x, y, 240 * x + 46 * y, pow(3, -1, 11), pow(17, -1, 3120))
p, q, e = 61, 53, 17
d = pow(e, -1, (p - 1) * (q - 1))
print([pow(pow(m, e, p * q), d, p * q) for m in (65, 42, 7)])
print(factorial(30), comb(50, 25), perm(10, 3), lcm(4, 6, 10), gcd(84, 36, 60), isqrt(10**40))
print(2**200 // 3**50, 2**200 % 3**50, divmod(-7**30, 5**10), (1 << 130) - 1 & 0xffff0000ffff)
print(int('ff' * 20, 16), int('1' * 50, 2), format(2**100, ',d'), format(2**70, '#x'), f'{3**40:_}')
print(str(7**77)[::-1], sum(int(c) for c in str(2**1000)), len(str(3**1000)))
fib = [0, 1]
while fib[-1] < 10**30:
    fib.append(fib[-1] + fib[-2])
print(fib[-1], len(fib), (10**30).bit_length(), (255).to_bytes(3, 'big'), int.from_bytes(b'\x01\x00\xff', 'little'))
