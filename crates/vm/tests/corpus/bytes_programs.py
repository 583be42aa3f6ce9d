# interpreter/vm/tokenizer style programs, bytes and bit fiddling
import struct, enum, re
from dataclasses import dataclass
class Op(enum.IntEnum): PUSH = 0; ADD = 1; MUL = 2; JNZ = 3; DUP = 4; SUB = 5; PRINT = 6; HALT = 7; SWAP = 8
def asm(src):
    out, labels, fix = bytearray(), {}, []
    for line in src.strip().splitlines():
        line = line.split(';')[0].strip()
        if not line: continue
        if line.endswith(':'): labels[line[:-1]] = len(out); continue
        name, *args = line.split()
        out.append(Op[name.upper()])
        for a in args:
            if a.lstrip('-').isdigit(): out += struct.pack('<i', int(a))
            else: fix.append((len(out), a)); out += bytes(4)
    for at, l in fix: out[at:at + 4] = struct.pack('<i', labels[l])
    return bytes(out)
def run(code):
    st, pc, out = [], 0, []
    while True:
        op = Op(code[pc]); pc += 1
        match op:
            case Op.PUSH: st.append(struct.unpack_from('<i', code, pc)[0]); pc += 4
            case Op.ADD: st.append(st.pop() + st.pop())
            case Op.MUL: st.append(st.pop() * st.pop())
            case Op.SUB: b, a = st.pop(), st.pop(); st.append(a - b)
            case Op.DUP: st.append(st[-1])
            case Op.SWAP: st[-1], st[-2] = st[-2], st[-1]
            case Op.JNZ:
                t, = struct.unpack('<i', code[pc:pc + 4]); pc += 4
                if st.pop(): pc = t
            case Op.PRINT: out.append(st[-1])
            case Op.HALT: return out
code = asm('''
push 5   ; counter
loop:
  push -1
  add
  print
  dup
  jnz loop
print
halt
''')
print(code.hex(' ', 4) if False else code.hex(), len(code)); print(run(code))
def crc(data, poly=0xEDB88320):
    c = 0xFFFFFFFF
    for b in data:
        c ^= b
        for _ in range(8): c = c >> 1 ^ poly if c & 1 else c >> 1
    return c ^ 0xFFFFFFFF
print(hex(crc(b'123456789')), f'{crc(b""):08x}')
def adler(d): a, b = 1, 0; return (lambda: [(a := (a + x) % 65521, b := (b + a) % 65521) for x in d] and b << 16 | a)() if False else functools_adler(d)
def functools_adler(d):
    a, b = 1, 0
    for x in d: a = (a + x) % 65521; b = (b + a) % 65521
    return b << 16 | a
print(adler(b'Wikipedia'))
def utf8(cp): return bytes([cp]) if cp < 0x80 else bytes([0xc0 | cp >> 6, 0x80 | cp & 63]) if cp < 0x800 else bytes([0xe0 | cp >> 12, 0x80 | cp >> 6 & 63, 0x80 | cp & 63]) if cp < 0x10000 else bytes([0xf0 | cp >> 18, 0x80 | cp >> 12 & 63, 0x80 | cp >> 6 & 63, 0x80 | cp & 63])
print(all(utf8(c) == chr(c).encode() for c in (65, 233, 8364, 128512)), [f'{b:08b}' for b in utf8(8364)])
def rc4(key, data):
    s = list(range(256)); j = 0
    for i in range(256): j = (j + s[i] + key[i % len(key)]) % 256; s[i], s[j] = s[j], s[i]
    i = j = 0; out = bytearray()
    for b in data: i = (i + 1) % 256; j = (j + s[i]) % 256; s[i], s[j] = s[j], s[i]; out.append(b ^ s[(s[i] + s[j]) % 256])
    return bytes(out)
print(rc4(b'Key', b'Plaintext').hex(), rc4(b'Key', rc4(b'Key', b'Plaintext')))
class BitSet:
    def __init__(self, it=()): self.v = 0; [self.add(x) for x in it]
    def add(self, x): self.v |= 1 << x
    def __contains__(self, x): return self.v >> x & 1 == 1
    def __iter__(self):
        v, i = self.v, 0
        while v:
            if v & 1: yield i
            v >>= 1; i += 1
    def __or__(self, o): r = BitSet(); r.v = self.v | o.v; return r
    def __len__(self): return self.v.bit_count()
    def __repr__(self): return f'BitSet({list(self)})'
print(BitSet([1, 5, 70]) | BitSet([2]), 5 in BitSet([5]), len(BitSet(range(0, 100, 7))))
def lfsr(s, n): return [(s := (s >> 1) ^ (-(s & 1) & 0xB400)) and s & 0xff for _ in range(n)]
print(lfsr(0xACE1, 6))
class LCG:
    def __init__(self, seed): self.s = seed
    def __iter__(self): return self
    def __next__(self): self.s = (self.s * 1103515245 + 12345) & 0x7fffffff; return self.s
    def choice(self, xs): return xs[next(self) % len(xs)]
    def shuffle(self, xs):
        for i in range(len(xs) - 1, 0, -1): j = next(self) % (i + 1); xs[i], xs[j] = xs[j], xs[i]
g = LCG(42); l = list(range(8)); g.shuffle(l); print(l, g.choice('abc'), [next(g) % 6 + 1 for _ in range(5)])
def varint(n):
    out = bytearray()
    while n > 0x7f: out.append(n & 0x7f | 0x80); n >>= 7
    return bytes(out + bytes([n]))
def unvarint(b): return sum((x & 0x7f) << 7 * i for i, x in enumerate(b))
print([varint(n) for n in (0, 127, 128, 300, 10 ** 9)], [unvarint(varint(n)) for n in (300, 10 ** 12)])
print(int.from_bytes(b'\x12\x34', 'big'), (0x1234).to_bytes(2, 'little'), bytes(reversed(b'abc')), bytearray(b'abc')[::-1], b'abc'.find(b'c'), bytes(x ^ 0x20 for x in b'Hello'), b'a,b;c'.replace(b';', b',').split(b','), b''.join([b'x', bytes([0])]), bytes.fromhex('DEADbeef').hex(), memoryview if False else '', bytearray(3), bytes(b'abc'[i] for i in (2, 0)), b'%s=%d' % (b'k', 5), b'abc' < b'abd', b'\xff'[0], list(b'\x00\x01'), b'z' in b'xyz', b'xyz'.index(b'z'), b' pad '.strip(), b'A'.lower(), b'tic-tac'.partition(b'-'))
ba = bytearray(b'hello'); ba[0:2] = b'J'; ba.extend(b' w'); ba.insert(0, 33); ba.reverse(); del ba[-1]; ba += b'!'; print(ba, ba.count(b'l'), ba.find(b'o'), bytes(ba).decode(), ba.pop(), ba.upper())
print(0xff & ~0x0f, 1 << 5 | 3, 6 ^ 3, -1 >> 1, -8 >> 1, 5 & -5, bin(0b1011 << 2), f'{0b1011:#010b}', (7).bit_length(), [1 << i & 0b1010 != 0 for i in range(4)], int('0b11', 0), int('-0x1F', 16), f'{255:o}', f'{3735928559:X}', hex(-42), ~0 & 0xff)
