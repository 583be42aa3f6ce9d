from itertools import zip_longest


class Poly:
    def __init__(self, *coefficients):
        parts = list(coefficients)
        while parts and parts[-1] == 0:
            parts.pop()
        self.c = tuple(parts)

    @property
    def degree(self):
        return len(self.c) - 1

    def __call__(self, x):
        value = 0
        for c in reversed(self.c):
            value = value * x + c
        return value

    def __add__(self, other):
        other = other if isinstance(other, Poly) else Poly(other)
        return Poly(*(a + b for a, b in zip_longest(self.c, other.c, fillvalue=0)))

    __radd__ = __add__

    def __neg__(self):
        return Poly(*(-c for c in self.c))

    def __sub__(self, other):
        return self + -other

    def __mul__(self, other):
        if not isinstance(other, Poly):
            return Poly(*(c * other for c in self.c))
        out = [0] * (len(self.c) + len(other.c))
        for i, a in enumerate(self.c):
            for j, b in enumerate(other.c):
                out[i + j] += a * b
        return Poly(*out)

    __rmul__ = __mul__

    def __pow__(self, n):
        result = Poly(1)
        for _ in range(n):
            result *= self
        return result

    def __divmod__(self, other):
        rest, out = list(self.c), []
        while len(rest) >= len(other.c):
            factor = rest[-1] // other.c[-1]
            out.append(factor)
            for i, c in enumerate(reversed(other.c)):
                rest[-1 - i] -= factor * c
            rest.pop()
        return Poly(*out[::-1]), Poly(*rest)

    def __eq__(self, other):
        return self.c == (other.c if isinstance(other, Poly) else Poly(other).c)

    def __str__(self):
        parts = []
        for power in range(self.degree, -1, -1):
            c = self.c[power]
            if not c:
                continue
            sign = ('-' if c < 0 else '') if not parts else (' - ' if c < 0 else ' + ')
            body = '' if abs(c) == 1 and power else str(abs(c))
            body += 'x' if power else ''
            body += f'^{power}' if power > 1 else ''
            parts.append(sign + body)
        return ''.join(parts) or '0'

    def derivative(self):
        return Poly(*(n * c for n, c in enumerate(self.c))[1:]) if False else Poly(*[n * c for n, c in enumerate(self.c)][1:])

    def roots(self, low, high):
        return [x for x in range(low, high + 1) if self(x) == 0]


x = Poly(0, 1)
p = (x - Poly(1)) * (x + 2) * (x - Poly(3))
print(p, p(5), p.derivative(), p.roots(-5, 5), p.degree, Poly(0), Poly(0, 0).c, 3 * x + 1, 1 + x)
q, r = divmod(p, x + 2)
print(q, '|', r, '|', q * (x + 2) + r == p, (x + 1) ** 5, -p, p - p == 0)
T = [Poly(1), x]
for n in range(2, 7):
    T.append(2 * x * T[-1] - T[-2])
print(*T, sep='\n')
print([t(2) for t in T], sum(T, Poly()).degree)
