import heapq
from dataclasses import dataclass, field
from typing import Any


@dataclass(order=True)
class Job:
    priority: int
    name: str = field(compare=False)
    data: Any = field(compare=False, default=None)


class Heap:
    def __init__(self, key=lambda x: x):
        self.items, self.key = [], key

    def push(self, item):
        self.items.append(item)
        i = len(self.items) - 1
        while i and self.key(self.items[i]) < self.key(self.items[(i - 1) // 2]):
            parent = (i - 1) // 2
            self.items[i], self.items[parent] = self.items[parent], self.items[i]
            i = parent

    def pop(self):
        top, last = self.items[0], self.items.pop()
        if self.items:
            self.items[0] = last
            i = 0
            while True:
                children = [c for c in (2 * i + 1, 2 * i + 2) if c < len(self.items)]
                if not children:
                    break
                child = min(children, key=lambda c: self.key(self.items[c]))
                if self.key(self.items[child]) >= self.key(self.items[i]):
                    break
                self.items[i], self.items[child] = self.items[child], self.items[i]
                i = child
        return top

    def __bool__(self):
        return bool(self.items)


queue = []
for priority, name in ((3, 'low'), (1, 'high'), (2, 'mid'), (1, 'also high')):
    heapq.heappush(queue, Job(priority, name))
print([heapq.heappop(queue).name for _ in range(4)])
heap = Heap(key=lambda w: (len(w), w))
for word in 'the quick brown fox jumps over a lazy dog'.split():
    heap.push(word)
out = []
while heap:
    out.append(heap.pop())
print(out)
data = [5, 7, 9, 1, 3]
heapq.heapify(data)
print(data[0], heapq.nlargest(2, data), heapq.nsmallest(3, data), heapq.heappushpop(data, 4), heapq.heapreplace(data, 100), sorted(data))
print(list(heapq.merge([1, 4, 7], [2, 5], [3, 6, 8])), heapq.nlargest(2, 'abcz', key=ord), heapq.nsmallest(1, [], default=None) if False else [])


def median_stream(numbers):
    low, high = [], []
    for n in numbers:
        heapq.heappush(low, -heapq.heappushpop(high, n))
        if len(low) > len(high):
            heapq.heappush(high, -heapq.heappop(low))
        yield high[0] if len(high) > len(low) else (high[0] - low[0]) / 2


print(list(median_stream([5, 15, 1, 3, 8, 7])))


def top_k(words, k):
    counts = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return heapq.nsmallest(k, counts, key=lambda w: (-counts[w], w))


print(top_k('b a c a b a d'.split(), 2))
try:
    heapq.heappop([])
except IndexError as error:
    print(error)
