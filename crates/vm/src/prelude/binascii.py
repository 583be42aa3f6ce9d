class Error(ValueError):
    pass


def hexlify(data, sep='', bytes_per_sep=1):
    shown = bytes(data).hex(sep, bytes_per_sep) if sep else bytes(data).hex()
    return shown.encode()


b2a_hex = hexlify


def unhexlify(hexstr):
    text = hexstr if isinstance(hexstr, str) else bytes(hexstr).decode('latin-1')
    if len(text) % 2:
        raise Error('Odd-length string')
    for char in text:
        if char not in '0123456789abcdefABCDEF':
            raise Error('Non-hexadecimal digit found')
    return bytes.fromhex(text)


a2b_hex = unhexlify


def _row(number):
    for _ in range(8):
        number = number >> 1 ^ 0xEDB88320 if number & 1 else number >> 1
    return number


_TABLE = [_row(number) for number in range(256)]


def crc32(data, crc=0):
    crc ^= 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _TABLE[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF
