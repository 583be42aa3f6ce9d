def solve(n):
    solutions = []
    columns, rising, falling = set(), set(), set()
    placed = []

    def place(row):
        if row == n:
            solutions.append(tuple(placed))
            return
        for column in range(n):
            if column in columns or row + column in rising or row - column in falling:
                continue
            columns.add(column)
            rising.add(row + column)
            falling.add(row - column)
            placed.append(column)
            place(row + 1)
            placed.pop()
            columns.remove(column)
            rising.remove(row + column)
            falling.remove(row - column)

    place(0)
    return solutions


for n in range(1, 8):
    print(n, len(solve(n)))
for row in solve(6)[0]:
    print('.' * row + 'Q' + '.' * (5 - row))
