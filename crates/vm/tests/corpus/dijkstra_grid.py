import heapq

GRID = """
1163751742
1381373672
2136511328
3694931569
7463417111
1319128137
1359912421
3125421639
1293138521
2311944581
""".split()


def neighbours(cell, rows, columns):
    r, c = cell
    for dr, dc in ((0, 1), (1, 0), (0, -1), (-1, 0)):
        if 0 <= r + dr < rows and 0 <= c + dc < columns:
            yield r + dr, c + dc


def shortest(grid, start, goal):
    rows, columns = len(grid), len(grid[0])
    best = {start: 0}
    previous = {}
    queue = [(0, start)]
    while queue:
        cost, cell = heapq.heappop(queue)
        if cell == goal:
            path = [cell]
            while cell in previous:
                cell = previous[cell]
                path.append(cell)
            return cost, path[::-1]
        if cost > best[cell]:
            continue
        for other in neighbours(cell, rows, columns):
            total = cost + int(grid[other[0]][other[1]])
            if total < best.get(other, float('inf')):
                best[other] = total
                previous[other] = cell
                heapq.heappush(queue, (total, other))
    return None


cost, path = shortest(GRID, (0, 0), (9, 9))
print(cost, len(path))
print(path)
marked = [[char for char in row] for row in GRID]
for r, c in path:
    marked[r][c] = '.'
print('\n'.join(''.join(row) for row in marked))
