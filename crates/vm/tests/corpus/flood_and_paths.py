from collections import deque

MAZE = '''
#########
#S..#...#
#.#.#.#.#
#.#...#E#
#.#####.#
#.......#
#########'''.strip().split('\n')


def find(grid, char):
    return next((y, x) for y, row in enumerate(grid) for x, c in enumerate(row) if c == char)


def bfs(grid, start, goal):
    queue, came = deque([start]), {start: None}
    while queue:
        place = queue.popleft()
        if place == goal:
            break
        y, x = place
        for step in ((y - 1, x), (y, x + 1), (y + 1, x), (y, x - 1)):
            if grid[step[0]][step[1]] != '#' and step not in came:
                came[step] = place
                queue.append(step)
    path = []
    while goal is not None:
        path.append(goal)
        goal = came[goal]
    return path[::-1]


def flood(grid, y, x, new):
    old = grid[y][x]
    stack, filled = [(y, x)], 0
    while stack:
        y, x = stack.pop()
        if 0 <= y < len(grid) and 0 <= x < len(grid[0]) and grid[y][x] == old:
            grid[y][x] = new
            filled += 1
            stack += [(y + 1, x), (y - 1, x), (y, x + 1), (y, x - 1)]
    return filled


path = bfs(MAZE, find(MAZE, 'S'), find(MAZE, 'E'))
print(len(path), path)
shown = [list(row) for row in MAZE]
for y, x in path[1:-1]:
    shown[y][x] = '*'
print('\n'.join(map(''.join, shown)))
grid = [list(row) for row in ('aabb', 'abba', 'aaab')]
print(flood(grid, 0, 0, '.'), flood(grid, 0, 2, 'z'), [''.join(row) for row in grid])


def islands(rows):
    land = {(y, x) for y, row in enumerate(rows) for x, c in enumerate(row) if c == '1'}
    sizes = []
    while land:
        group, todo = 0, [land.pop()]
        while todo:
            y, x = todo.pop()
            group += 1
            for near in ((y + 1, x), (y - 1, x), (y, x + 1), (y, x - 1)):
                if near in land:
                    land.remove(near)
                    todo.append(near)
        sizes.append(group)
    return sorted(sizes)


print(islands(['11000', '11001', '00100', '00011']))


def knights(n, start, goal):
    level, seen, steps = {start}, {start}, 0
    while goal not in level:
        level = {(x + a, y + b) for x, y in level for a, b in ((1, 2), (2, 1), (-1, 2), (-2, 1), (1, -2), (2, -1), (-1, -2), (-2, -1)) if 0 <= x + a < n and 0 <= y + b < n} - seen
        seen |= level
        steps += 1
        if not level:
            return None
    return steps


print(knights(8, (0, 0), (7, 7)), knights(8, (0, 0), (1, 1)), knights(3, (0, 0), (1, 1)))
def water(heights):
    left, right, best, total = 0, len(heights) - 1, [0, 0], 0
    while left < right:
        if heights[left] < heights[right]:
            best[0] = max(best[0], heights[left])
            total += best[0] - heights[left]
            left += 1
        else:
            best[1] = max(best[1], heights[right])
            total += best[1] - heights[right]
            right -= 1
    return total
print(water([0, 1, 0, 2, 1, 0, 1, 3, 2, 1, 2, 1]))
