print(7 // 2, -7 // 2, 7 % -3, -7 % 3, 7 / 2, 2 ** 10, 2 ** -1, 5 & 3, 5 | 3, 5 ^ 3, ~5, 1 << 40, -17 >> 2)
print(10 ** 50, 3 ** 200 % 1000007, pow(3, 200, 1000007), pow(3, -1, 11), divmod(10 ** 30, 7 ** 10), -(2 ** 63), 2 ** 63 - 1, 2 ** 64)
print(int("ff", 16), int("0b101", 0), int("-12"), int(3.99), int(-3.99), float("1e3"), float(" 2.5 "), int("1_000"), bool(""), bool([0]))
print(round(2.5), round(3.5), round(-2.5), round(2.675, 2), round(1234, -2), round(1.005, 2), round(0.5), round(1e16), abs(-3), abs(-2.5))
print(0.1 + 0.2, 1 / 3, 2 / 3, 1e300 * 10, 1e308 * 10, -1e308 * 10, 5e-324, 1.7976931348623157e308, 123456789.123456789)
print(1e22, 1e21, 123456789012345678, 1.0, 100.0, 1e5, 1.5e-10, 3.0e8, 2.5e-5, 12345678901234567.0)
print(7.5 // 2, -7.5 // 2, 7.5 % 2, -7.5 % 2, 7.5 % -2, 2.0 ** 0.5, 10.0 / 3, 1e16 + 1, 0.1 * 3)
print(1 == 1.0, hash(1) == hash(1.0), 2 ** 53 == float(2 ** 53), 2 ** 53 + 1 == float(2 ** 53 + 1), 10 ** 20 > 1e19, 3 < 3.5, True + True, 1 < 2 < 3, 3 > 2 > 2)
print((255).to_bytes(2, "big"), int.from_bytes(b"\x01\x00", "little"), (-1).to_bytes(2, "big", signed=True), (1000).bit_length(), (5.0).is_integer(), (0.75).as_integer_ratio(), bin(10), oct(8), hex(255), hex(-255))
import math
print(math.sqrt(2), math.floor(-2.5), math.ceil(2.1), math.gcd(12, 18), math.lcm(4, 6), math.factorial(20), math.isqrt(10 ** 30), math.comb(30, 10), math.perm(5, 2), math.pi, math.e)
print(math.sin(0.0), math.cos(0.0), math.log(1.0), math.log2(8.0), math.log10(1000.0), math.hypot(3.0, 4.0), math.isclose(0.1 + 0.2, 0.3), math.fsum([0.1] * 10), math.prod([1, 2, 3, 4]), math.trunc(-2.7), math.inf, math.isnan(math.nan))
for expr in ("1/0", "1%0", "1.0/0", "0.0**-1", "int('a')", "1<<-1", "float('x')", "[1]+1", "'a'*'b'", "1+None", "-'a'"):
    pass
def attempt(function):
    try:
        return function()
    except Exception as error:
        return type(error).__name__ + ": " + str(error)
print(attempt(lambda: 1 / 0), attempt(lambda: 1 % 0), attempt(lambda: 1.0 // 0), attempt(lambda: int("a")), attempt(lambda: 1 << -1))
print(attempt(lambda: [1] + 1), attempt(lambda: 1 + None), attempt(lambda: -"a"), attempt(lambda: 1 < "a"), attempt(lambda: len(5)), attempt(lambda: 5()), attempt(lambda: 5[0]))
def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps
print(max(range(1, 300), key=collatz), [collatz(n) for n in range(1, 20)])
print(sum(range(101)), sum([0.1] * 3), sum([[1], [2]], []), min(3, 1, 2), max([1, 5, 3], default=0), min([], default="none"), max("apple", "fig", key=len))
x = 12345678901234567890
x //= 7
x *= -3
x -= 1
x |= 5
print(x, x % 97, -x // 10 ** 9, x.bit_length(), str(x)[::-1], int(str(x)) == x, x ** 3 % 10 ** 10)
