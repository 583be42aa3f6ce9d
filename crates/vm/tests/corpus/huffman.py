import heapq
from collections import Counter
from dataclasses import dataclass, field
from typing import Optional


@dataclass(order=True)
class Node:
    weight: int
    order: int
    char: Optional[str] = field(compare=False, default=None)
    left: Optional['Node'] = field(compare=False, default=None)
    right: Optional['Node'] = field(compare=False, default=None)


def build(text):
    counts = Counter(text)
    heap = [Node(count, index, char) for index, (char, count) in enumerate(sorted(counts.items()))]
    heapq.heapify(heap)
    order = len(heap)
    while len(heap) > 1:
        a = heapq.heappop(heap)
        b = heapq.heappop(heap)
        heapq.heappush(heap, Node(a.weight + b.weight, order, None, a, b))
        order += 1
    return heap[0]


def codes(node, prefix=''):
    if node.char is not None:
        return {node.char: prefix or '0'}
    table = codes(node.left, prefix + '0')
    table.update(codes(node.right, prefix + '1'))
    return table


def decode(bits, root):
    out = []
    node = root
    for bit in bits:
        node = node.left if bit == '0' else node.right
        if node.char is not None:
            out.append(node.char)
            node = root
    return ''.join(out)


text = 'the quick brown fox jumps over the lazy dog and the dog sleeps'
root = build(text)
table = codes(root)
for char in sorted(table):
    print(repr(char), table[char])
bits = ''.join(table[char] for char in text)
print(len(bits), len(text) * 8)
print(decode(bits, root) == text)
