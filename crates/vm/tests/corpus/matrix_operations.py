class Matrix:
    def __init__(self, rows):
        self.rows = [list(row) for row in rows]
        if len({len(row) for row in self.rows}) != 1:
            raise ValueError('ragged rows')

    @classmethod
    def identity(cls, n):
        return cls([[int(i == j) for j in range(n)] for i in range(n)])

    @property
    def shape(self):
        return len(self.rows), len(self.rows[0])

    @property
    def T(self):
        return Matrix(zip(*self.rows))

    def __matmul__(self, other):
        return Matrix([[sum(a * b for a, b in zip(row, column)) for column in zip(*other.rows)] for row in self.rows])

    def __pow__(self, n):
        result, base = Matrix.identity(len(self.rows)), self
        while n:
            if n & 1:
                result = result @ base
            base, n = base @ base, n >> 1
        return result

    def __eq__(self, other):
        return self.rows == other.rows

    def __getitem__(self, key):
        i, j = key
        if isinstance(i, slice) or isinstance(j, slice):
            rows = self.rows[i] if isinstance(i, slice) else [self.rows[i]]
            return Matrix([row[j] if isinstance(j, slice) else [row[j]] for row in rows])
        return self.rows[i][j]

    def __setitem__(self, key, value):
        i, j = key
        self.rows[i][j] = value

    def __iter__(self):
        return iter(self.rows)

    def determinant(self):
        rows = [row[:] for row in self.rows]
        sign, previous = 1, 1
        for k in range(len(rows) - 1):
            if rows[k][k] == 0:
                for i in range(k + 1, len(rows)):
                    if rows[i][k]:
                        rows[k], rows[i] = rows[i], rows[k]
                        sign = -sign
                        break
                else:
                    return 0
            for i in range(k + 1, len(rows)):
                for j in range(k + 1, len(rows)):
                    rows[i][j] = (rows[i][j] * rows[k][k] - rows[i][k] * rows[k][j]) // previous
            previous = rows[k][k]
        return sign * rows[-1][-1]

    def __str__(self):
        width = max(len(str(x)) for row in self.rows for x in row)
        return '\n'.join(' '.join(str(x).rjust(width) for x in row) for row in self.rows)


m = Matrix([[2, -1, 0], [1, 3, 5], [4, 0, 1]])
print(m, m.shape, m.determinant(), m.T.determinant(), sep='\n')
print(m @ Matrix.identity(3) == m, (m ** 5).rows, m[1, 2], m[0:2, 1:].rows, m[:, 0].rows)
print(Matrix([[1, 1], [1, 0]]) ** 90)
m[0, 0] = 100
print([row[0] for row in m], Matrix([[0, 1], [1, 0]]).determinant(), Matrix([[1, 2], [2, 4]]).determinant())
try:
    Matrix([[1], [1, 2]])
except ValueError as error:
    print(error)
spiral = lambda rows: [*rows[0], *spiral(list(zip(*rows[1:]))[::-1])] if rows else []
print(spiral([[1, 2, 3], [4, 5, 6], [7, 8, 9]]))
