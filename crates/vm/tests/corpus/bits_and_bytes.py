import base64
import hashlib
import struct


def crc32(data):
    table = []
    for n in range(256):
        for _ in range(8):
            n = n >> 1 ^ 0xedb88320 if n & 1 else n >> 1
        table.append(n)
    crc = 0xffffffff
    for byte in data:
        crc = table[(crc ^ byte) & 0xff] ^ crc >> 8
    return crc ^ 0xffffffff


def adler(data):
    a, b = 1, 0
    for byte in data:
        a = (a + byte) % 65521
        b = (b + a) % 65521
    return b << 16 | a


def rle(data):
    out = bytearray()
    at = 0
    while at < len(data):
        run = 1
        while at + run < len(data) and data[at + run] == data[at] and run < 255:
            run += 1
        out += bytes([run, data[at]])
        at += run
    return bytes(out)


def unrle(data):
    return b''.join(bytes([value]) * count for count, value in zip(data[::2], data[1::2]))


def varint(n):
    out = bytearray()
    while True:
        byte = n & 0x7f
        n >>= 7
        out.append(byte | (0x80 if n else 0))
        if not n:
            return bytes(out)


def xor(data, key):
    return bytes(a ^ key[i % len(key)] for i, a in enumerate(data))


text = b'the quick brown fox jumps over the lazy dog'
print(hex(crc32(text)), hex(adler(text)), crc32(b'') == 0)
packed = rle(b'aaaabbbcd' + b'z' * 300)
print(packed, len(unrle(packed)), unrle(packed)[:9])
print([varint(n).hex() for n in (0, 127, 128, 300, 2**32)])
print(xor(xor(text, b'key'), b'key') == text, xor(b'abc', b' '))
print(base64.b64encode(text), base64.b64decode(base64.b64encode(b'any\x00\xff')), base64.urlsafe_b64encode(b'\xff\xfe\xfd'), base64.b16encode(b'hi'))
print(hashlib.sha256(text).hexdigest(), hashlib.sha256().hexdigest()[:16], hashlib.sha3_256(b'x').digest()[:4])
h = hashlib.sha256()
for word in text.split():
    h.update(word)
print(h.hexdigest() == hashlib.sha256(text.replace(b' ', b'')).hexdigest(), h.digest_size)
header = struct.pack('>4sHIq?', b'MAGI', 7, 4000000000, -5, True)
print(header, struct.unpack('>4sHIq?', header), struct.calcsize('<bhiq'), struct.unpack_from('<H', b'\x00\x01\x02', 1))
print(bytes(range(5)), bytes([65, 66]) + b'C', b'%s' , b'abc'[1], b'abc'[1:], bytearray(b'abc'), b'a' in b'abc', 98 in b'abc', b'ab' * 2, b'a' < b'b')
a = bytearray(b'hello')
a[0] = 72
a[1:3] = b'EEE'
del a[-1]
a += b'!'
print(a, a.hex(), bytes.fromhex('de ad be ef'), b'\xff'.hex(), list(a[:2]), a == b'HEEEl!', len(a))
print((1000).to_bytes(4, 'little'), int.from_bytes(b'\xff\xff', 'big', signed=True), (-2).to_bytes(2, 'big', signed=True))
print(bin(0b1011 & 0b0110), 5 ^ 3, ~5, 1 << 10, -16 >> 2, (37).bit_length(), (37).bit_count(), bin(-5), hex(255), oct(8))
print('héllo'.encode(), 'héllo'.encode('latin-1'), b'h\xc3\xa9'.decode(), b'\xe9'.decode('latin-1'), 'é'.encode('ascii', 'ignore'), b'\xff'.decode('utf-8', 'replace'))
for function in (lambda: b'\xff'.decode(), lambda: 'é'.encode('ascii'), lambda: bytes([256]), lambda: b'a' + 'b', lambda: bytes.fromhex('zz'), lambda: (300).to_bytes(1, 'big')):
    try:
        function()
    except Exception as error:
        print(type(error).__name__)
