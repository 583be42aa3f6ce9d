from functools import lru_cache, reduce

PAIRS = [(1000, 'M'), (900, 'CM'), (500, 'D'), (400, 'CD'), (100, 'C'), (90, 'XC'), (50, 'L'), (40, 'XL'), (10, 'X'), (9, 'IX'), (5, 'V'), (4, 'IV'), (1, 'I')]


@lru_cache(maxsize=None)
def roman(n):
    if n == 0:
        return ''
    value, text = next(pair for pair in PAIRS if pair[0] <= n)
    return text + roman(n - value)


def number(text):
    values = dict((t, v) for v, t in PAIRS if len(t) == 1)
    total = 0
    for this, following in zip(text, text[1:] + 'I'):
        total += -values[this] if values[this] < values[following] else values[this]
    return total


for n in (1, 4, 9, 14, 40, 90, 400, 1994, 2024, 3999):
    print(n, roman(n), number(roman(n)))
print(all(number(roman(n)) == n for n in range(1, 600)))
print(reduce(lambda a, b: a + b, (len(roman(n)) for n in range(1, 100))))
print(roman.cache_info().currsize > 100)
