from collections import OrderedDict


class LRU:
    def __init__(self, size):
        self.size = size
        self.data = OrderedDict()
        self.hits = self.misses = 0

    def get(self, key, make):
        if key in self.data:
            self.hits += 1
            self.data.move_to_end(key)
        else:
            self.misses += 1
            self.data[key] = make(key)
            if len(self.data) > self.size:
                old = self.data.popitem(last=False)
                print('dropped', old)
        return self.data[key]

    def __len__(self):
        return len(self.data)

    def __contains__(self, key):
        return key in self.data

    def __iter__(self):
        return iter(self.data)


cache = LRU(3)
for key in 'abcabdacebdaaa':
    cache.get(key, lambda k: k.upper() * 2)
print(cache.hits, cache.misses, len(cache), list(cache), 'a' in cache, 'z' in cache)


class Node:
    __slots__ = 'key', 'value', 'before', 'after'

    def __init__(self, key=None, value=None):
        self.key, self.value = key, value
        self.before = self.after = self


class Linked:
    def __init__(self, size):
        self.size, self.table, self.root = size, {}, Node()

    def unlink(self, node):
        node.before.after, node.after.before = node.after, node.before

    def push(self, node):
        last = self.root.before
        last.after = node
        node.before, node.after = last, self.root
        self.root.before = node

    def __getitem__(self, key):
        node = self.table[key]
        self.unlink(node)
        self.push(node)
        return node.value

    def __setitem__(self, key, value):
        if key in self.table:
            self.unlink(self.table[key])
        node = self.table[key] = Node(key, value)
        self.push(node)
        if len(self.table) > self.size:
            oldest = self.root.after
            self.unlink(oldest)
            del self.table[oldest.key]

    def keys(self):
        node = self.root.after
        while node is not self.root:
            yield node.key
            node = node.after


linked = Linked(3)
for index, key in enumerate('abcdaefa'):
    try:
        linked[key]
    except KeyError as error:
        linked[key] = index
    print(key, list(linked.keys()))
