_LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'


class _Error(ValueError):
    pass


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
