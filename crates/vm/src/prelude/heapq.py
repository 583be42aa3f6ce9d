def heappush(heap, item):
    heap.append(item)
    _down(heap, 0, len(heap) - 1)


def heappop(heap):
    if not heap:
        raise IndexError('index out of range')
    last = heap.pop()
    if heap:
        item = heap[0]
        heap[0] = last
        _up(heap, 0)
        return item
    return last


def heapreplace(heap, item):
    first = heap[0]
    heap[0] = item
    _up(heap, 0)
    return first


def heappushpop(heap, item):
    if heap and heap[0] < item:
        item, heap[0] = heap[0], item
        _up(heap, 0)
    return item


def heapify(heap):
    for index in reversed(range(len(heap) // 2)):
        _up(heap, index)


def _down(heap, start, at):
    item = heap[at]
    while at > start:
        parent = (at - 1) >> 1
        if item < heap[parent]:
            heap[at] = heap[parent]
            at = parent
        else:
            break
    heap[at] = item


def _up(heap, at):
    end = len(heap)
    start = at
    item = heap[at]
    child = 2 * at + 1
    while child < end:
        other = child + 1
        if other < end and not heap[child] < heap[other]:
            child = other
        heap[at] = heap[child]
        at = child
        child = 2 * at + 1
    heap[at] = item
    _down(heap, start, at)


def nsmallest(n, iterable, key=None):
    return sorted(iterable, key=key)[:n]


def nlargest(n, iterable, key=None):
    return sorted(iterable, key=key, reverse=True)[:n]


def merge(*iterables, key=None, reverse=False):
    heap = []
    order = 0
    rows = [iter(iterable) for iterable in iterables]
    items = []
    for row in rows:
        for item in row:
            items.append(item)
    return iter(sorted(items, key=key, reverse=reverse))
