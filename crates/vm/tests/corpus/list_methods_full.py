l = [3, 1, 4, 1, 5]
l.append(9)
l.extend('ab')
l.insert(0, 'first')
l.insert(-1, 'x')
l.insert(100, 'end')
print(l, l.pop(), l.pop(0), l.pop(-2), l.index(1), l.index(1, 2), l.count(1))
l.remove('a')
l.reverse()
print(l, l[::-1], l[1:3], l[-2:], l[::2], l + [0], l * 2, 4 in l, len(l))
l[1:3] = ['new']
l[0:0] = [7, 8]
l[::2] = ['e'] * len(l[::2])
print(l)
del l[0], l[-1], l[1:2]
print(l, l.copy() == l, l.copy() is l)
l.clear()
print(l, bool(l), [] == [], [1, 2] < [1, 3], [1] < [1, 0], [[1], [2]] == [[1], [2]], sorted([[2], [1, 5], [1]]))
n = [1, 2, 3]
m = n
m += [4]
m = m + [5]
print(n, m, n is m)
grid = [[0] * 3 for _ in range(2)]
shared = [[0] * 2] * 2
grid[0][1] = 5
shared[0][0] = 9
print(grid, shared, [*map(list, zip(*grid))], sum(grid, []), [x for row in grid for x in row])
words = ['pear', 'fig', 'apple', 'kiwi']
words.sort()
print(words, sorted(words, key=len), sorted(words, key=lambda w: (-len(w), w)), max(words, key=len), min(words))
words.sort(key=lambda w: w[-1], reverse=True)
print(words, list(reversed(words)), words.index('fig'), ['x'] * 0, list('ab'), list(range(3)), list({'k': 1}), list(enumerate('ab')))
a = [1, [2, [3]]]
import copy
b, c = copy.copy(a), copy.deepcopy(a)
a[1][1].append(4)
print(a, b, c)
r = [1]
r.append(r)
print(r, r[1] is r, len(r))
t = (1, 2, 3, 2)
print(t.count(2), t.index(3), t + (4,), t * 2, t[1:], (1,) < (1, 2), hash(t) == hash((1, 2, 3, 2)), (), (5,), tuple('ab'), sorted(t, reverse=True))
first, (second, *rest), last = 1, (2, 3, 4), 5
print(first, second, rest, last)
x = y = []
x.append(1)
print(y, x is y, [i if i % 2 else -i for i in range(5)], [(a, b) for a in 'xy' for b in range(2) if b or a == 'y'])
for f in (lambda: [].pop(), lambda: [1].remove(2), lambda: [1, 2][5], lambda: [1].index(3), lambda: [1] + (2,), lambda: [1] * 1.5, lambda: [3, 'a'].sort(), lambda: [1, 2, 3].pop(7), lambda: (1,)[2], lambda: [1][1:2].pop(), lambda: [1]['a']):
    try:
        f()
    except Exception as error:
        print(type(error).__name__, error)
try:
    l2 = [1, 2, 3, 4]
    l2[::2] = [1]
except ValueError as error:
    print(error)
