# number-heavy programs
from functools import reduce
from math import gcd, isqrt, factorial, comb, prod, floor, ceil, sqrt
print(reduce(gcd, [48, 36, 120]), [n for n in range(2, 60) if all(n % d for d in range(2, isqrt(n) + 1))])
def egcd(a, b): return (a, 1, 0) if b == 0 else (lambda g, x, y: (g, y, x - a // b * y))(*egcd(b, a % b))
print(egcd(240, 46), pow(7, -1, 26), pow(3, 200, 13), factorial(25), comb(50, 25), prod(range(1, 11)))
def fib():
    a, b = 0, 1
    while True: yield a; a, b = b, a + b
from itertools import islice, takewhile
print(list(islice(fib(), 15)), next(x for x in fib() if x > 10 ** 30), sum(takewhile(lambda x: x < 4e6, (f for f in fib() if f % 2 == 0))))
def collatz(n):
    c = 0
    while n != 1: n = n // 2 if n % 2 == 0 else 3 * n + 1; c += 1
    return c
print(max(range(1, 300), key=collatz), [collatz(n) for n in (7, 27, 97)])
def bin_search(f, lo, hi, eps=1e-12):
    while hi - lo > eps:
        mid = (lo + hi) / 2
        if f(mid) < 0: lo = mid
        else: hi = mid
    return lo
print(round(bin_search(lambda x: x * x - 2, 0, 2), 9), sqrt(2) ** 2, 0.1 * 3, 1.1 + 2.2, 1e16 + 1, 2 ** 0.5, 10 / 3, 22 / 7, 1e-7, 123456789.123456789, 1 / 7)
def newton(n, it=6):
    x = n
    for _ in range(it): x = (x + n / x) / 2
    return x
print(newton(10), abs(newton(10) - sqrt(10)) < 1e-9, int(2.9), int(-2.9), round(2.5), round(-1.5), floor(-1.1), ceil(1.1), 7 // -2, 7 % -2, -7 // 2, divmod(-7, 2), 1_000_000 // 3)
digits = lambda n: [int(d) for d in str(n)]
print([n for n in range(100, 1000) if n == sum(d ** 3 for d in digits(n))], sum(digits(2 ** 100)), str(2 ** 64)[::-1], int('1010', 2), f'{10:b}', int('ff', 16), 0b1010 ^ 0b0110, ~7, 1 << 10, 1000 >> 3, bin(10).count('1'))
def to_base(n, b): return (to_base(n // b, b) if n >= b else '') + '0123456789abcdefghijklmnopqrstuvwxyz'[n % b]
print(to_base(255, 2), to_base(255, 16), to_base(123456, 36), int(to_base(123456, 36), 36))
tri = [[1]]
for _ in range(6): tri.append([1] + [a + b for a, b in zip(tri[-1], tri[-1][1:])] + [1])
for r in tri: print(' '.join(map(str, r)).center(25).rstrip())
def permutations(s): return [s] if len(s) <= 1 else [c + p for i, c in enumerate(s) for p in permutations(s[:i] + s[i + 1:])]
print(permutations('abc'), len(permutations('abcde')))
def hanoi(n, a='A', b='B', c='C'): return 0 if n == 0 else hanoi(n - 1, a, c, b) + 1 + hanoi(n - 1, c, b, a)
print(hanoi(8), [[(i * j) % 7 for j in range(1, 4)] for i in range(1, 4)], sum(i * i for i in range(101)), sum(1 / n ** 2 for n in range(1, 1000)))
def simpson(f, a, b, n=100):
    h = (b - a) / n
    return h / 3 * (f(a) + f(b) + 4 * sum(f(a + i * h) for i in range(1, n, 2)) + 2 * sum(f(a + i * h) for i in range(2, n, 2)))
print(simpson(lambda x: x ** 2, 0, 3), round(simpson(lambda x: 1 / x, 1, 2), 8))
mean = lambda xs: sum(xs) / len(xs)
data = [2, 4, 4, 4, 5, 5, 7, 9]
m = mean(data); sd = sqrt(mean([(x - m) ** 2 for x in data])); print(m, sd, sorted(data)[len(data) // 2], max(set(data), key=data.count))
print(float('inf') > 1e308, float('-inf') < 0, float('nan') != float('nan'), 1e308 * 10, -1e308 * 10, 0.0 / 1, 5 % 3.5, -5 % 3.5, 2 ** -2, (-2) ** 3, 4 ** 0.5, 0 ** 0, 1e0, 1e-10, 1.0e+20)
print((0.1).as_integer_ratio(), (3.0).is_integer(), (10).bit_length(), (1.5).hex(), 3 .real, (5).__class__, 1 .__add__(2), True + 1, sum([True, False, True]), int(True), float(3), complex if False else '')
print(99999999999999999999 * 99999999999999999999, 2 ** 200 // 3 ** 50, 10 ** 50 % 97, -(10 ** 20) // 7, (10 ** 20) / 3, 12345678901234567890 & 0xffff, 1 << 100 >> 98, 2 ** 100 > 1e30, hash(2 ** 61 - 1), hash(-1), hash(1.5) if False else '', str(10 ** 25), len(str(7 ** 100)), int('9' * 30) + 1, round(12345678901234567890, -5), abs(-10 ** 30))
matrix = [[2, 1, -1, 8], [-3, -1, 2, -11], [-2, 1, 2, -3]]
from fractions import Fraction as F
M = [[F(x) for x in r] for r in matrix]
for i in range(3):
    p = M[i][i]; M[i] = [x / p for x in M[i]]
    for j in range(3):
        if j != i: k = M[j][i]; M[j] = [a - k * b for a, b in zip(M[j], M[i])]
print([str(r[3]) for r in M], F(3, 4) + 1, F('1.25') * 2, F(1, 3) < F(1, 2), repr(F(6, 4)), float(F(1, 8)), F(7, 2) // 1, F(7, 2) % 1, round(F(7, 2)), -F(1, 2), F(2, 3) ** 2, F(2, 3) ** -1, 1 / F(3), F(0.5), abs(F(-1, 2)), F(5, 1) == 5, hash(F(5)) == hash(5), F(22, 7).limit_denominator(5), F(10, 4).numerator, int(F(7, 2)), F(1, 3) + 0.5, {F(1, 2): 1}[0.5], sorted([F(1, 2), F(1, 3)]), sum([F(1, 3)] * 3), max(F(1, 2), 0.4))
import statistics as st
print(st.mean([1, 2, 3, 4]), st.median([5, 3, 1]), st.median([1, 2, 3, 4]), st.mode('aab'), st.stdev([1, 2, 3, 4]), st.pstdev([1, 2, 3]), st.variance([2, 4]), st.pvariance([1, 2, 3, 4]), st.fmean([1, 2.5]), st.quantiles([1, 2, 3, 4, 5]), st.median_low([1, 2, 3, 4]), st.median_high([1, 2, 3, 4]), st.multimode('aabb'), st.harmonic_mean([40, 60]), round(st.geometric_mean([54, 24, 36]), 1), st.mean([F(1, 2), F(1, 3)]), st.mean([1.5, 2]), st.correlation([1, 2, 3], [2, 4, 7]) , st.stdev([1.5, 2.5, 4.0]), st.pstdev([0.1, 0.2]))
try: st.mean([])
except st.StatisticsError as e: print(type(e).__name__, e)
