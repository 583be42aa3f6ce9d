class BinaryTree:
    class Node:
        __slots__ = ('key', 'left', 'right')

        def __init__(self, key):
            self.key, self.left, self.right = key, None, None

    def __init__(self, keys=()):
        self.root = None
        self.size = 0
        for key in keys:
            self.add(key)

    def add(self, key):
        if self.root is None:
            self.root = self.Node(key)
        else:
            node = self.root
            while True:
                side = 'left' if key < node.key else 'right'
                if key == node.key:
                    return
                child = getattr(node, side)
                if child is None:
                    setattr(node, side, self.Node(key))
                    break
                node = child
        self.size += 1

    def __iter__(self):
        def walk(node):
            if node:
                yield from walk(node.left)
                yield node.key
                yield from walk(node.right)
        return walk(self.root)

    def __contains__(self, key):
        node = self.root
        while node and node.key != key:
            node = node.left if key < node.key else node.right
        return node is not None

    def __len__(self):
        return self.size

    def height(self):
        def measure(node):
            return 1 + max(measure(node.left), measure(node.right)) if node else 0
        return measure(self.root)

    def remove(self, key):
        def drop(node, key):
            if node is None:
                raise KeyError(key)
            if key < node.key:
                node.left = drop(node.left, key)
            elif key > node.key:
                node.right = drop(node.right, key)
            elif node.left and node.right:
                successor = node.right
                while successor.left:
                    successor = successor.left
                node.key = successor.key
                node.right = drop(node.right, successor.key)
            else:
                return node.left or node.right
            return node
        self.root = drop(self.root, key)
        self.size -= 1

    def show(self, node=None, depth=0):
        node = node or self.root
        lines = []
        if node.right:
            lines += self.show(node.right, depth + 1)
        lines.append('    ' * depth + str(node.key))
        if node.left:
            lines += self.show(node.left, depth + 1)
        return lines


class Trie:
    def __init__(self):
        self.children = {}
        self.end = False

    def insert(self, word):
        node = self
        for char in word:
            node = node.children.setdefault(char, Trie())
        node.end = True

    def words(self, prefix=''):
        if self.end:
            yield prefix
        for char in sorted(self.children):
            yield from self.children[char].words(prefix + char)

    def starting(self, prefix):
        node = self
        for char in prefix:
            node = node.children.get(char)
            if node is None:
                return []
        return list(node.words(prefix))


class SegmentTree:
    def __init__(self, data, combine=max, empty=float('-inf')):
        self.n, self.combine, self.empty = len(data), combine, empty
        self.tree = [empty] * self.n + list(data)
        for i in range(self.n - 1, 0, -1):
            self.tree[i] = combine(self.tree[2 * i], self.tree[2 * i + 1])

    def set(self, i, value):
        i += self.n
        self.tree[i] = value
        while i > 1:
            i //= 2
            self.tree[i] = self.combine(self.tree[2 * i], self.tree[2 * i + 1])

    def query(self, low, high):
        result = self.empty
        low, high = low + self.n, high + self.n
        while low < high:
            if low & 1:
                result = self.combine(result, self.tree[low])
                low += 1
            if high & 1:
                high -= 1
                result = self.combine(result, self.tree[high])
            low, high = low // 2, high // 2
        return result


tree = BinaryTree([50, 30, 70, 20, 40, 60, 80, 30])
print(list(tree), len(tree), tree.height(), 40 in tree, 45 in tree)
print('\n'.join(tree.show()))
for key in (20, 70, 50):
    tree.remove(key)
    print(key, list(tree), tree.root.key)
try:
    tree.remove(99)
except KeyError as error:
    print('missing', error)
trie = Trie()
for word in 'tea ten inn in to tend team'.split():
    trie.insert(word)
print(list(trie.words()), trie.starting('te'), trie.starting('x'))
segments = SegmentTree([5, 3, 8, 1, 9, 2])
print(segments.query(0, 3), segments.query(3, 6), segments.query(2, 2))
segments.set(4, 0)
print(segments.query(0, 6), SegmentTree([1, 2, 3, 4], lambda a, b: a + b, 0).query(1, 3))
