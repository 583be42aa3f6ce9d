class Node:
    def __init__(self, value, following=None):
        self.value, self.following = value, following


class LinkedList:
    def __init__(self, items=()):
        self.head = None
        self.length = 0
        for item in reversed(list(items)):
            self.push(item)

    def push(self, value):
        self.head = Node(value, self.head)
        self.length += 1
        return self

    def pop(self):
        if self.head is None:
            raise IndexError('pop from empty list')
        node, self.head = self.head, self.head.following
        self.length -= 1
        return node.value

    def __iter__(self):
        node = self.head
        while node:
            yield node.value
            node = node.following

    def __len__(self):
        return self.length

    def __repr__(self):
        return ' -> '.join(map(repr, self)) or 'empty'

    def reverse(self):
        before, node = None, self.head
        while node:
            node.following, before, node = before, node, node.following
        self.head = before
        return self

    def insert_sorted(self, value):
        if self.head is None or value <= self.head.value:
            return self.push(value)
        node = self.head
        while node.following and node.following.value < value:
            node = node.following
        node.following = Node(value, node.following)
        self.length += 1
        return self

    def __delitem__(self, index):
        if not 0 <= index < self.length:
            raise IndexError(index)
        if index == 0:
            self.pop()
            return
        node = self.head
        for _ in range(index - 1):
            node = node.following
        node.following = node.following.following
        self.length -= 1

    def __getitem__(self, index):
        for position, value in enumerate(self):
            if position == index:
                return value
        raise IndexError(index)

    def merge(self, other):
        merged = LinkedList()
        a, b = list(self), list(other)
        while a or b:
            source = a if not b or a and a[0] <= b[0] else b
            merged.push(source.pop(0))
        return merged.reverse()


def has_cycle(node):
    slow = fast = node
    while fast and fast.following:
        slow, fast = slow.following, fast.following.following
        if slow is fast:
            return True
    return False


l = LinkedList([3, 1, 2])
print(l, len(l), l.pop(), l, l.reverse(), l[1], l.push(9), list(l))
s = LinkedList()
for n in (5, 1, 4, 2, 3):
    s.insert_sorted(n)
print(s, s.merge(LinkedList([0, 2, 9])), sum(s))
del s[2], s[0]
print(s, len(s), LinkedList())
for action in (lambda: LinkedList().pop(), lambda: s[10], lambda: s.__delitem__(5)):
    try:
        action()
    except IndexError as error:
        print('IndexError', error)
tail = Node(3)
ring = Node(1, Node(2, tail))
print(has_cycle(ring))
tail.following = ring
print(has_cycle(ring), has_cycle(None))
