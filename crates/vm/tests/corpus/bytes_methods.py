for b in (b'Hello, World', bytearray(b'a b  c\td\n'), b'', b'  x y  ', b'one,two,,three', b'AbC1', b'line1\nline2\r\nline3\r'):
    print(b.split(), b.rsplit(None, 1), b.split(b','), b.rsplit(b',', 1), b.splitlines(), b.splitlines(True))
    print(b.partition(b','), b.rpartition(b','), b.strip(), b.lstrip(), b.rstrip(), b.strip(b'dH'))
    print(b.find(b'o'), b.rfind(b'o'), b.find(b'l', 3), b.count(b'l'), b.find(111), b.find(b'', 3), b.count(b''))
    print(b.replace(b'l', b'LL'), b.replace(b'l', b'', 1), b.title(), b.capitalize(), b.swapcase(), b.upper(), b.lower())
    print(b.isalpha(), b.isdigit(), b.isalnum(), b.isascii(), b.isspace(), b.isupper(), b.islower(), b.istitle())
    print(b.center(20, b'*'), b.zfill(15), b.ljust(15, b'.'), b.rjust(15), b.removeprefix(b'He'), b.removesuffix(b'ld'), b.expandtabs(4))
    print(b.translate(bytes.maketrans(b'lo', b'01')), b.translate(None, b'l'), b.startswith((b'H', b'a')), b.endswith(b'd'))
    for m in ('index', 'rindex'):
        try:
            print(getattr(b, m)(b'l'))
        except ValueError as e:
            print(e)
a = bytearray(b'hello')
a.insert(1, 65); a.remove(108); a.reverse(); c = a.copy(); c.append(33)
print(a, c, a.pop(), a)
import struct
print(struct.pack('<fd', 1.5, -2.25), struct.unpack('>d', struct.pack('>d', 3.14159)), struct.unpack('<f', struct.pack('<f', 0.1)))
S = struct.Struct('<HI'); print(S.size, S.pack(1, 2), list(S.iter_unpack(S.pack(1,2)+S.pack(3,4))))
class I(int):
    def __add__(self, o): return I(int.__add__(self, o))
    def __lt__(self, o): return super().__lt__(o)
print(I(3)+4, I(3) < 4, (5).__add__(2), (5).__add__('x'), int.__mul__(3, 4), 'a'.__mul__(3), [1].__lt__([2]), {1}.__and__({1,2}), {1:2}.__or__({3:4}), (2).__pow__(3), (7).__rsub__(10), (3.5).__neg__(), (-3).__abs__(), (0).__bool__(), (2).__lt__(2.5), 1.5.__lt__(2))
import math
print(round(math.gamma(5),6), round(math.erf(0.5),6))
print(list(enumerate('ab', 2**63-1)))
