# Integers at the ends of machine words in every place that takes one.
edges = [2**63 - 1, 2**63, -2**63, -2**63 - 1, 2**64, 2**31 - 1, -2**31, 0, 1, -1]


def attempt(label, function, *args):
    try:
        print(label, function(*args))
    except Exception as error:
        print(label, type(error).__name__)


data = list(range(5))
for a in edges:
    attempt('slice', lambda: (data[a:], data[:a], data[::a] if a else None, 'abc'[a:], b'abc'[:a]))
    attempt('negative', lambda: (-a, abs(a), ~a, a * -1, a // -1, a % -1, divmod(a, -1)))
    attempt('shift', lambda: (a >> 70, a >> 1, a << 3))
    attempt('index', lambda: data[a])
    if abs(a) < 2**62:
        attempt('range', lambda: list(range(a, a + 3)))
        attempt('count down', lambda: list(range(a, a - 3, -1)))
    attempt('enumerate', lambda: list(enumerate('ab', a)))
    attempt('round', lambda: (round(a, -2), a.bit_length(), hash(a) == hash(int(str(a)))))
    attempt('float', lambda: (float(a), int(float(a)), a == float(a), a < float(a)))
    attempt('format', lambda: (f'{a:x}', f'{a:,}', '%d' % a, hex(a), bin(a)[-5:]))
    attempt('find', lambda: ('abcabc'.find('c', a), 'abcabc'.rfind('c', 0, a), data.index(3, max(a, 0) if a < 9 else 0)))
    attempt('insert', lambda: (data[:].insert(a, 9), [1, 2].pop(a)))
    for b in edges:
        attempt('pair', lambda: (a + b, a - b, a * b, a < b, a == b, a & b, a | b, a ^ b))
        attempt('divide', lambda: (a // b, a % b, divmod(a, b), a / b))
        attempt('slices', lambda: (data[a:b], slice(a, b).indices(5)))
        if abs(b) < 2**62:
            attempt('range ends', lambda: (a in range(b, b + 10), len(range(0, 10, b)) if b else None))
