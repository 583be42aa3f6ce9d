def popcount(n):
    count = 0
    while n:
        n &= n - 1
        count += 1
    return count


class BitSet:
    def __init__(self, items=()):
        self.bits = 0
        for item in items:
            self.bits |= 1 << item

    def __iter__(self):
        bits, n = self.bits, 0
        while bits:
            if bits & 1:
                yield n
            bits >>= 1
            n += 1

    def __and__(self, other):
        return self._make(self.bits & other.bits)

    def __or__(self, other):
        return self._make(self.bits | other.bits)

    def __sub__(self, other):
        return self._make(self.bits & ~other.bits)

    def __xor__(self, other):
        return self._make(self.bits ^ other.bits)

    @classmethod
    def _make(cls, bits):
        made = cls()
        made.bits = bits
        return made

    def __contains__(self, n):
        return bool(self.bits >> n & 1)

    def __len__(self):
        return self.bits.bit_count()

    def __repr__(self):
        return f'BitSet({list(self)})'


class Bloom:
    def __init__(self, size, hashes):
        self.size, self.hashes, self.bits = size, hashes, 0

    def places(self, text):
        for seed in range(self.hashes):
            h = 2166136261 ^ seed
            for byte in text.encode():
                h = (h ^ byte) * 16777619 & 0xffffffff
            yield h % self.size

    def add(self, text):
        for place in self.places(text):
            self.bits |= 1 << place

    def __contains__(self, text):
        return all(self.bits >> place & 1 for place in self.places(text))


a, b = BitSet([1, 5, 70, 200]), BitSet(range(0, 8))
print(a & b, a | b, a - b, a ^ b, 70 in a, 71 in a, len(a), popcount(2**100 - 1))
bloom = Bloom(512, 3)
for word in ('apple', 'pear', 'fig'):
    bloom.add(word)
print([word in bloom for word in ('apple', 'fig', 'kiwi', 'plum')], bloom.bits.bit_count())
print([n ^ n >> 1 for n in range(8)], [bin(n)[2:].zfill(4) for n in (5, 10)], int('1010', 2), 0b1111_0000 >> 4, 0xff & ~0x0f, -1 & 0xff, -8 >> 1, ~-1)
swap = lambda n: sum((n >> i & 1) << 7 - i for i in range(8))
print([swap(n) for n in (1, 3, 128, 200)], 1 << 100, (1 << 100) >> 98, -(1 << 70) >> 69, (2**80 - 1) & (2**70 + 5) == 2**70 + 5, -5 & 2**65, -5 | 3, -5 ^ 2**40)
state = 0xACE1
bits = []
for _ in range(20):
    bit = (state ^ state >> 2 ^ state >> 3 ^ state >> 5) & 1
    state = state >> 1 | bit << 15
    bits.append(bit)
print(bits, hex(state))
def crc8(data):
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc << 1 ^ 7 if crc & 128 else crc << 1) & 255
    return crc
print(crc8(b'123456789'), crc8(b''))
print([(x, (x & -x).bit_length() - 1) for x in (12, 40, 1, 96)], [x for x in range(1, 100) if x & x - 1 == 0], int.from_bytes((1234567).to_bytes(5, 'big'), 'big'))
