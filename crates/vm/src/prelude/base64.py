from binascii import Error as _Error

_LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'


def b64encode(s, altchars=None):
    number = int.from_bytes
    out = []
    index = 0
    while index < len(s):
        part = s[index:index + 3]
        bits = 0
        for byte in part:
            bits = bits << 8 | byte
        missing = 3 - len(part)
        bits <<= 8 * missing
        chars = [_LETTERS[bits >> shift & 63] for shift in (18, 12, 6, 0)]
        if missing:
            chars[4 - missing:] = ['='] * missing
        out.append(''.join(chars))
        index += 3
    text = ''.join(out)
    if altchars is not None:
        text = text.replace('+', chr(altchars[0])).replace('/', chr(altchars[1]))
    return text.encode()


def b64decode(s, altchars=None, validate=False):
    if isinstance(s, (bytes, bytearray)):
        s = s.decode('ascii')
    if altchars is not None:
        s = s.replace(chr(altchars[0]), '+').replace(chr(altchars[1]), '/')
    out = bytearray()
    bits = 0
    count = 0
    padding = 0
    for char in s:
        if char == '=':
            padding += 1
            continue
        value = _LETTERS.find(char)
        if value < 0:
            if validate:
                raise _Error('Only base64 data is allowed')
            continue
        bits = bits << 6 | value
        count += 1
        if count == 4:
            out += bits.to_bytes(3, 'big')
            bits = 0
            count = 0
    if count == 1 or count and padding + count < 4:
        raise _Error('Incorrect padding')
    if count:
        bits <<= 6 * (4 - count)
        out += bits.to_bytes(3, 'big')[:count - 1]
    return bytes(out)


def urlsafe_b64encode(s):
    return b64encode(s, b'-_')


def urlsafe_b64decode(s):
    return b64decode(s, b'-_')


standard_b64encode = b64encode
standard_b64decode = b64decode


def b16encode(s):
    return s.hex().upper().encode()


def b16decode(s, casefold=False):
    return bytes.fromhex(s.decode() if isinstance(s, bytes) else s)


_B32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'


def b32encode(s):
    s = bytes(s)
    out = []
    for index in range(0, len(s), 5):
        part = s[index:index + 5]
        bits = int.from_bytes(part + bytes(5 - len(part)), 'big')
        letters = ''.join([_B32[bits >> shift & 31] for shift in range(35, -5, -5)])
        used = (len(part) * 8 + 4) // 5
        out.append(letters[:used] + '=' * (8 - used))
    return ''.join(out).encode()


def b32decode(s, casefold=False):
    if isinstance(s, (bytes, bytearray)):
        s = s.decode('ascii')
    if casefold:
        s = s.upper()
    if len(s) % 8:
        raise _Error('Incorrect padding')
    text = s.rstrip('=')
    padding = len(s) - len(text)
    if padding not in (0, 1, 3, 4, 6):
        raise _Error('Incorrect padding')
    bits = 0
    for char in text:
        value = _B32.find(char)
        if value < 0:
            raise _Error('Non-base32 digit found')
        bits = bits << 5 | value
    count = len(text) * 5 // 8
    return (bits >> len(text) * 5 - count * 8).to_bytes(count, 'big')
