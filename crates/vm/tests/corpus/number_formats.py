def to_base(n, base):
    digits = '0123456789abcdefghijklmnopqrstuvwxyz'
    if n == 0:
        return '0'
    sign, n = ('-', -n) if n < 0 else ('', n)
    out = ''
    while n:
        n, rest = divmod(n, base)
        out = digits[rest] + out
    return sign + out


for n in (0, 7, -255, 65535, 10**12):
    print(n, [to_base(n, base) for base in (2, 3, 8, 16, 36)], [int(to_base(n, base), base) == n for base in (2, 7, 36)])
print(int('0x1f', 16), int('0b101', 0), int('0o17', 0), int(' 42 '), int('1_000'), int('-7'), int(3.99), int(-3.99), int(True))
print(float('1e3'), float(' -2.5 '), float('inf'), float('-Infinity'), float('1_0.5'), 1e3 == 1000, 0.1 + 0.2 == 0.3, .5, 5., 1_000_000)
print(7 // 2, -7 // 2, 7 % 3, -7 % 3, 7 % -3, -7 % -3, 7.5 // 2, -7.5 % 2, divmod(-7, 2), divmod(7.5, 2), 2 ** -1, 2 ** 0.5, (-8) ** 3)
print(1 / 3, 10 / 5, 1e308 * 10, -1e308 * 10, 5 % 3.5, 0.1 * 3, 1 - 0.9, 1e16 + 1, 123456789 * 987654321, 2**64 - 1)
print(round(0.5), round(1.5), round(-0.5), round(1.25, 1), round(1.35, 1), round(1e20), round(123.456, -1), round(-1.5), type(round(1.0)), round(2.5, 0))
print((0.75).as_integer_ratio(), (3.0).is_integer(), (2.5).is_integer(), (10).bit_length(), (255).bit_count(), float.hex(0.5) if hasattr(float, 'hex') else '')
print(max(1, 2.5, -3), min([3, 1.5]), sum([0.1] * 10), abs(-2.5), pow(2, 10), pow(2, 10, 1000), complex if False else 'no', bool(0.0), bool(-1), not 0)
print(1 == 1.0, hash(1) == hash(1.0) == hash(True), {1: 'a', 1.0: 'b', True: 'c'}, 1 < 1.5 < 2, 3 > 2 == 2, 1 < 2 > 1, True + True)
print(float('nan') == float('nan'), float('inf') > 10**400, -float('inf') < 0, 10**20 == 1e20, 2**53 + 1 == float(2**53 + 1), 10**400 > 1e308)
for text in ('', 'abc', '1.5', '0x', '1__0', '- 1'):
    for kind in (int, float):
        try:
            print(repr(text), kind(text))
        except ValueError as error:
            print(error)
for action in (lambda: 1 // 0, lambda: 1.0 % 0, lambda: 0 ** -1, lambda: int(float('inf')), lambda: int(float('nan')), lambda: 1 << -1, lambda: 2.5 & 1, lambda: 'a' < 1):
    try:
        print(action())
    except Exception as error:
        print(type(error).__name__, error)
words = 'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split()
tens = 'twenty thirty forty fifty sixty seventy eighty ninety'.split()
def spell(n):
    if n < 20:
        return words[n]
    if n < 100:
        return tens[n // 10 - 2] + ('-' + words[n % 10] if n % 10 else '')
    for size, name in ((10**9, 'billion'), (10**6, 'million'), (1000, 'thousand'), (100, 'hundred')):
        if n >= size:
            rest = n % size
            return spell(n // size) + ' ' + name + (' ' + spell(rest) if rest else '')
print([spell(n) for n in (0, 13, 21, 100, 342, 1000, 12345, 10**6 + 1, 987654321)])
