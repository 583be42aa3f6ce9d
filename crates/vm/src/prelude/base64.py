from binascii import Error as _Error

_LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'


def b64encode(s, altchars=None):
    if isinstance(s, str):
        raise TypeError("a bytes-like object is required, not 'str'")
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
            if count > 1 and padding + count == 4:
                break
            continue
        value = _LETTERS.find(char)
        if value < 0:
            if validate:
                raise _Error('Only base64 data is allowed')
            continue
        bits = bits << 6 | value
        padding = 0
        count += 1
        if count == 4:
            out += bits.to_bytes(3, 'big')
            bits = 0
            count = 0
    if count == 1:
        raise _Error('Invalid base64-encoded string: number of data characters (' + str(len(out) // 3 * 4 + 1)
                     + ') cannot be 1 more than a multiple of 4')
    if count and padding + count < 4:
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
    text = s.decode('latin-1') if isinstance(s, (bytes, bytearray)) else s
    for char in text.upper() if casefold else text:
        if char not in '0123456789ABCDEF':
            raise _Error('Non-base16 digit found')
    if len(text) % 2:
        raise _Error('Odd-length string')
    return bytes.fromhex(text)


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


def encodebytes(s):
    out = bytearray()
    for index in range(0, len(s), 57):
        out += b64encode(s[index:index + 57]) + b'\n'
    return bytes(out)


def decodebytes(s):
    return b64decode(s)


_B85 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~'


def b85encode(b, pad=False):
    out = []
    for index in range(0, len(b), 4):
        part = bytes(b[index:index + 4])
        missing = 4 - len(part)
        bits = int.from_bytes(part + bytes(missing), 'big')
        letters = ''.join([_B85[bits // 85 ** power % 85] for power in (4, 3, 2, 1, 0)])
        out.append(letters if pad else letters[:5 - missing])
    return ''.join(out).encode()


def b85decode(b):
    text = b.decode('ascii') if isinstance(b, (bytes, bytearray)) else b
    out = bytearray()
    for index in range(0, len(text), 5):
        part = text[index:index + 5]
        missing = 5 - len(part)
        bits = 0
        for place in range(5):
            char = part[place] if place < len(part) else '~'
            value = _B85.find(char)
            if value < 0:
                raise ValueError('bad base85 character at position ' + str(index + place))
            bits = bits * 85 + value
        if bits > 0xffffffff:
            raise ValueError('base85 overflow in hunk starting at byte ' + str(index))
        out += bits.to_bytes(4, 'big')[:4 - missing]
    return bytes(out)
