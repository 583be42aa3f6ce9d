import heapq, bisect
from collections import deque
graph = {"a": {"b": 4, "c": 1}, "b": {"d": 1}, "c": {"b": 2, "d": 5}, "d": {}}
def dijkstra(start):
    dist = {start: 0}
    heap = [(0, start)]
    while heap:
        d, n = heapq.heappop(heap)
        if d > dist[n]: continue
        for m, w in graph[n].items():
            nd = d + w
            if nd < dist.get(m, float("inf")):
                dist[m] = nd
                heapq.heappush(heap, (nd, m))
    return dist
print(dijkstra("a"))
def bfs(grid, start, goal):
    queue, seen = deque([(start, 0)]), {start}
    while queue:
        (r, c), steps = queue.popleft()
        if (r, c) == goal: return steps
        for dr, dc in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            nr, nc = r + dr, c + dc
            if 0 <= nr < len(grid) and 0 <= nc < len(grid[0]) and grid[nr][nc] != "#" and (nr, nc) not in seen:
                seen.add((nr, nc)); queue.append(((nr, nc), steps + 1))
    return -1
print(bfs(["..#.", ".#..", "....", "#.#."], (0, 0), (0, 3)))
def quick(a):
    if len(a) <= 1: return a
    p = a[len(a) // 2]
    return quick([x for x in a if x < p]) + [x for x in a if x == p] + quick([x for x in a if x > p])
seq = [(i * 7919) % 101 for i in range(60)]
print(quick(seq) == sorted(seq), quick(seq)[:5])
def permute(items):
    if not items: yield []; return
    for i in range(len(items)):
        for rest in permute(items[:i] + items[i + 1:]): yield [items[i]] + rest
print(list(permute([1, 2, 3])), sum(1 for _ in permute(list(range(5)))))
def queens(n):
    out = []
    def place(row, cols, d1, d2, acc):
        if row == n: out.append(acc); return
        for c in range(n):
            if c not in cols and row + c not in d1 and row - c not in d2:
                place(row + 1, cols | {c}, d1 | {row + c}, d2 | {row - c}, acc + [c])
    place(0, set(), set(), set(), [])
    return out
print(len(queens(6)), queens(5)[0])
def lcs(a, b):
    t = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            t[i + 1][j + 1] = t[i][j] + 1 if x == y else max(t[i][j + 1], t[i + 1][j])
    return t[-1][-1]
print(lcs("AGGTABQWERTY", "GXTXAYBQWTY"))
def knapsack(items, cap):
    best = [0] * (cap + 1)
    for w, v in items:
        for c in range(cap, w - 1, -1): best[c] = max(best[c], best[c - w] + v)
    return best[cap]
print(knapsack([(2, 3), (3, 4), (4, 5), (5, 6)], 8))
xs = [1, 3, 5, 7]; bisect.insort(xs, 4); print(xs, bisect.bisect_left(xs, 4), bisect.bisect_right(xs, 4))
def life(cells):
    counts = {}
    for x, y in cells:
        for dx in (-1, 0, 1):
            for dy in (-1, 0, 1):
                if dx or dy: counts[x + dx, y + dy] = counts.get((x + dx, y + dy), 0) + 1
    return {c for c, n in counts.items() if n == 3 or n == 2 and c in cells}
g = {(1, 0), (2, 1), (0, 2), (1, 2), (2, 2)}
for _ in range(8): g = life(g)
print(sorted(g))
def hanoi(n, a, b, c): return 0 if n == 0 else hanoi(n - 1, a, c, b) + 1 + hanoi(n - 1, c, b, a)
print(hanoi(10, "a", "b", "c"))
class Node:
    def __init__(self, key): self.key, self.left, self.right = key, None, None
class Tree:
    def __init__(self): self.root, self.size = None, 0
    def add(self, key):
        self.size += 1
        if self.root is None: self.root = Node(key); return
        n = self.root
        while True:
            side = "left" if key < n.key else "right"
            nxt = getattr(n, side)
            if nxt is None: setattr(n, side, Node(key)); return
            n = nxt
    def __iter__(self):
        def walk(n):
            if n: yield from walk(n.left); yield n.key; yield from walk(n.right)
        return walk(self.root)
    def __len__(self): return self.size
t = Tree()
for k in seq[:20]: t.add(k)
print(list(t), len(t), max(t))
matrix = [[1, 2], [3, 4]]
print([list(r) for r in zip(*matrix)], [[sum(a * b for a, b in zip(r, c)) for c in zip(*matrix)] for r in matrix])
print("".join(chr(ord("a") + i % 26) for i in range(30)), [n for n in range(2, 50) if all(n % d for d in range(2, int(n ** .5) + 1))])
