L = list(range(10))
for s in [slice(None), slice(2, 5), slice(None, None, 2), slice(None, None, -1), slice(8, 2, -2), slice(-3, None), slice(None, -3), slice(20, 30), slice(-100, 100, 3), slice(5, 2), slice(2, 5, -1)]:
    print(s, L[s], tuple(L)[s], 'abcdefghij'[s], b'abcdefghij'[s], range(10)[s], s.indices(7), s.start, s.stop, s.step)
def t(f):
    a = list(range(10))
    try: f(a); print(a)
    except Exception as e: print(type(e).__name__, e, a)
def f1(a): a[2:5] = [99]
def f2(a): a[2:2] = [7, 8, 9]
def f3(a): a[::2] = [0] * 5
def f4(a): a[::2] = [0] * 4
def f5(a): a[::-1] = range(10)
def f6(a): del a[1:4]
def f7(a): del a[::3]
def f8(a): del a[::-2]
def f9(a): a[5:2] = [1, 2]
def f10(a): a[:] = 'xyz'
def f11(a): a[20:] = [1]
def f12(a): a[1:3] = 5
def f13(a): a[0] = a
def f14(a): a[-20]
def f15(a): a[10] = 1
def f16(a): del a[-11]
def f17(a): a[2:4] += [5]
def f18(a): a *= 2
def f19(a): a[1:1] = a
def f20(a): a += 'ab'; a += (1,); a.extend({3: 4}); a.insert(-1, 'i'); a.insert(100, 'e'); a.insert(-100, 's')
def f21(a): a.sort(key=lambda x: (x % 3, -x)); a.reverse()
def f22(a): a[True] = 'T'; a['x'] = 1
for f in [f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19, f20, f21, f22]: t(f)
a, *b, c = range(5); print(a, b, c)
*a, b = 'xy'; print(a, b)
(a, b), [c, *d] = (1, 2), 'xyz'; print(a, b, c, d)
for x, (y, *z) in [(1, (2, 3, 4)), (5, [6])]: print(x, y, z)
for src in ['a, b = 1,', 'a, b = 1, 2, 3', 'a, *b, c = [1]', 'a, b = 5', '[a] = ""', 'a, b = {1: 2}']:
    try:
        if src == 'a, b = 1,': a, b = 1,
        elif src == 'a, b = 1, 2, 3': a, b = 1, 2, 3
        elif src == 'a, *b, c = [1]': a, *b, c = [1]
        elif src == 'a, b = 5': a, b = 5
        elif src == '[a] = ""': [a] = ""
        else: a, b = {1: 2}
    except Exception as e: print(type(e).__name__, e)
ba = bytearray(b'hello'); ba[0] = 72; ba[1:3] = b'EYY'; ba += b'!'; ba.append(33); print(ba, bytes(ba), ba[1], ba[1:3], len(ba)); del ba[0]; print(ba, ba.pop(), ba.hex())
print([1, 2] * 0, [1] * -1, 3 * [0], (1,) * 3, [[]] * 2, 'ab' * 2, b'a' * 3)
print([1, 2] < [1, 3], [1] < [1, 0], (1, 'a') < (1, 'b'), [] < [1], [1, 2] == [1, 2.0], 'a' < 'b' < 'c')
print([1, 2, 3].count(2), [1, 2, 3].index(3, 1), 'banana'.find('an', 2), 'banana'.rfind('an'), 'banana'.count('a'), 'banana'.index('n'))
m = [[0] * 3 for _ in range(2)]; m[0][1] = 5; print(m)
print(list(reversed(L[2:5])), L[-1:0:-3], L[::][1:][::-1][0])
r = range(0, 20, 3); print(r, len(r), r[2], r[-1], 9 in r, 10 in r, r.index(9), r.count(9), list(r[1:3]), r == range(0, 21, 3), range(0) == range(5, 5), hash(range(0)) == hash(range(3, 3)), list(range(5, 0, -2)), r.start, r.stop, r.step)
