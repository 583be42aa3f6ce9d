from collections import Counter
from itertools import product


def step(cells):
    counts = Counter((x + dx, y + dy) for x, y in cells for dx, dy in product((-1, 0, 1), repeat=2) if dx or dy)
    return {cell for cell, count in counts.items() if count == 3 or count == 2 and cell in cells}


def show(cells, width, height):
    return '\n'.join(''.join('#' if (x, y) in cells else '.' for x in range(width)) for y in range(height))


def parse(text):
    return {(x, y) for y, line in enumerate(text.split('\n')) for x, char in enumerate(line) if char == '#'}


glider = parse('.#.\n..#\n###')
for generation in range(5):
    print(generation, sorted(glider))
    glider = step(glider)
print(show(glider, 6, 6))
blinker = frozenset(parse('\n.###'))
seen = {}
state, n = blinker, 0
while state not in seen:
    seen[state] = n
    state, n = frozenset(step(state)), n + 1
print('period', n - seen[state])
pentomino = parse('.##\n##.\n.#.')
for _ in range(40):
    pentomino = step(pentomino)
print(len(pentomino), min(pentomino), max(pentomino))
