from bisect import bisect, bisect_left, bisect_right, insort, insort_left


def lower(items, key):
    low, high = 0, len(items)
    while low < high:
        middle = (low + high) // 2
        if items[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low


def search_rotated(items, key):
    low, high = 0, len(items) - 1
    while low <= high:
        middle = (low + high) >> 1
        if items[middle] == key:
            return middle
        if items[low] <= items[middle]:
            if items[low] <= key < items[middle]:
                high = middle - 1
            else:
                low = middle + 1
        elif items[middle] < key <= items[high]:
            low = middle + 1
        else:
            high = middle - 1
    return -1


def root(n, power, places=10):
    low, high = 0.0, max(1.0, n)
    for _ in range(200):
        middle = (low + high) / 2
        if middle ** power < n:
            low = middle
        else:
            high = middle
    return round(low, places)


def peak(items):
    low, high = 0, len(items) - 1
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if items[middle] < items[middle + 1] else (low, middle)
    return low


data = [1, 3, 3, 3, 5, 8, 13, 21]
for key in (0, 1, 3, 4, 21, 99):
    print(key, bisect_left(data, key), bisect_right(data, key), bisect(data, key), lower(data, key))
rotated = [13, 21, 34, 1, 2, 3, 5, 8]
print([search_rotated(rotated, key) for key in (1, 34, 8, 4, 13)])
print(root(2, 2), root(27, 3), root(0.25, 2), root(1e6, 2))
print(peak([1, 3, 7, 8, 4, 2]), peak([5]), peak([1, 2, 3]))
scores = []
for score in (50, 20, 80, 20, 65):
    insort(scores, score)
insort_left(scores, 20)
print(scores, ['FDCBA'[bisect([60, 70, 80, 90], s)] for s in (33, 60, 77, 89, 90, 100)])
names = ['ann', 'bob', 'cid']
insort(names, 'bea')
print(names, bisect_left([(1, 'a'), (2, 'b')], (2,)), bisect_left(['aa', 'bbb', 'c'], 2, key=len), bisect_right([5, 4, 3], -4, key=lambda x: -x))
