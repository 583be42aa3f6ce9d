class Matrix:
    def __init__(self, rows): self.rows = [list(r) for r in rows]
    @classmethod
    def identity(cls, n): return cls([[int(i == j) for j in range(n)] for i in range(n)])
    @property
    def shape(self): return len(self.rows), len(self.rows[0])
    @property
    def T(self): return Matrix(zip(*self.rows))
    def __matmul__(self, o): return Matrix([[sum(a * b for a, b in zip(r, c)) for c in zip(*o.rows)] for r in self.rows])
    def __add__(self, o): return Matrix([[a + b for a, b in zip(r, s)] for r, s in zip(self.rows, o.rows)])
    def __mul__(self, k): return Matrix([[a * k for a in r] for r in self.rows])
    __rmul__ = __mul__
    def __pow__(self, n):
        r, b = Matrix.identity(self.shape[0]), self
        while n:
            if n & 1: r = r @ b
            b = b @ b; n >>= 1
        return r
    def __getitem__(self, key):
        match key:
            case (int(i), int(j)): return self.rows[i][j]
            case (slice() as s, int(j)): return [r[j] for r in self.rows[s]]
            case int(i): return self.rows[i]
            case slice() as s: return Matrix(self.rows[s])
        raise TypeError(key)
    def __setitem__(self, key, v): i, j = key; self.rows[i][j] = v
    def __eq__(self, o): return isinstance(o, Matrix) and self.rows == o.rows
    def __iter__(self): yield from (x for r in self.rows for x in r)
    def __str__(self):
        w = max(len(str(x)) for x in self)
        return '\n'.join('[' + ' '.join(f'{x:>{w}}' for x in r) + ']' for r in self.rows)
    def det(self):
        m = [r[:] for r in self.rows]; n = len(m); d = 1
        from fractions import Fraction
        m = [[Fraction(x) for x in r] for r in m]
        for c in range(n):
            p = next((r for r in range(c, n) if m[r][c]), None)
            if p is None: return 0
            if p != c: m[c], m[p] = m[p], m[c]; d = -d
            d *= m[c][c]
            for r in range(c + 1, n):
                f = m[r][c] / m[c][c]
                m[r] = [a - f * b for a, b in zip(m[r], m[c])]
        return d
m = Matrix([[1, 2], [3, 4]])
print(m, m.T, m @ m, 2 * m, m ** 10, m[0, 1], m[:, 1], m[1], m[:1], m.det(), Matrix.identity(3), sep='\n--\n')
m[0, 0] = 9; print(list(m), m == m.T.T, m.shape, Matrix([[2, 0, 1], [1, 3, 2], [0, 1, 4]]).det())
fib = Matrix([[1, 1], [1, 0]]) ** 90; print(fib[0, 1])
grid = [['.'] * 7 for _ in range(5)]
for i in range(5): grid[i][i] = '#'; grid[i][-i - 1] = '/'
print('\n'.join(''.join(r) for r in grid))
spiral = lambda m: m and [*m.pop(0)] + spiral([*zip(*m)][::-1])
print(spiral([[1, 2, 3], [4, 5, 6], [7, 8, 9]]))
print([list(x) for x in zip(*[[1, 2, 3], [4, 5, 6]])], list(map(list, zip(*[iter(range(6))] * 2))))
a = [[0] * 3] * 2; a[0][0] = 1; print(a)
print(sum(map(sum, [[1, 2], [3]])), [[*range(i)] for i in range(4)], max(range(10), key=lambda x: (x % 5, x)), {(i, j): i ^ j for i in range(2) for j in range(2)})
