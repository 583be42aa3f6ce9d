# UserDict, UserList, UserString, and subclasses of the other containers.
from collections import ChainMap, Counter, OrderedDict, UserDict, UserList, UserString, defaultdict, deque, namedtuple


class Folded(UserDict):
    def __setitem__(self, key, value):
        super().__setitem__(key.lower(), value)

    def __missing__(self, key):
        return 'no ' + key


table = Folded({'A': 1}, B=2)
table.update(C=3)
table.update([('D', 4)])
print(table, table['a'], table['zz'], len(table), sorted(table), 'a' in table, 'A' in table, table.get('q', 0), table == {'a': 1, 'b': 2, 'c': 3, 'd': 4})
print(table.pop('a'), table.setdefault('e', 5), table.popitem(), list(table.items()), list(table.values()), table.copy() | {'z': 26})


class Stack(UserList):
    def push(self, item):
        self.append(item)
        return self


stack = Stack([3, 1]).push(2)
stack += [9]
stack.sort()
print(stack, stack[0], stack[1:], type(stack[1:]).__name__, stack + [7], [0] + stack, stack * 2, stack == [1, 2, 3, 9], stack < [2], 3 in stack, len(stack))
stack.insert(0, 'x')
stack.extend('yz')
stack.remove('y')
stack.reverse()
print(stack, stack.index('x'), stack.count(9), stack.pop(), stack.copy(), list(reversed(stack)))
text = UserString('Hello')
print(text, repr(text), text + ' you', text.upper(), text[1:3], len(text), 'ell' in text, text == 'Hello', text.replace('l', 'L'), text.find('o'), text.split('l'), hash(text) == hash('Hello'), text * 2)


class Recent(OrderedDict):
    pass


class Tally(Counter):
    pass


class Line(deque):
    pass


class Groups(defaultdict):
    pass


class Bag(set):
    pass


class Fixed(frozenset):
    pass


print(Recent(a=1), Recent(), Tally('aab'), Tally(), Line([1, 2], 3), Groups(list, a=[1]), Bag([1]), Bag(), Fixed([2]), Fixed(), [Bag([3])], str(Bag([4])))
print(Recent.fromkeys('ba', 0), OrderedDict.fromkeys('ab'), Recent(a=1) | {'b': 2}, {'z': 0} | Recent(a=1), Recent(a=1).copy(), type(Recent(a=1) | {}).__name__)
print(Counter(a=1) == Counter(a=1, b=0), Counter(a=1) < Counter(a=2), Counter(a=1) <= Counter(a=1), Counter(a=3) > Counter(a=2, b=1), Counter(a=2, b=1) >= Counter(a=2), Counter(a=1) != Counter(a=1))
print(deque([1, 2]) * 2, 2 * deque([1]), deque([1, 2], 3) + deque([3, 4]))
Point = namedtuple('Point', 'x y', defaults=[0])
for attempt in (lambda: Counter.fromkeys('a'), lambda: defaultdict(5), lambda: deque([1], -1), lambda: deque([1])[0:1], lambda: deque([1]) + [2],
                lambda: ChainMap({}, {'a': 1}).__delitem__('a'), lambda: Point(1, 2, 3), lambda: Point(), lambda: UserList([1])[5], lambda: UserDict()['k']):
    try:
        print(attempt())
    except (TypeError, ValueError, KeyError, IndexError, NotImplementedError) as error:
        print(type(error).__name__, error)
