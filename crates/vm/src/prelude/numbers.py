# Methods of numbers that no program is in a hurry for.

def _plain_number(value):
    # Without the class that a program made of it, whose methods lead here again.
    return float.__pos__(value) if isinstance(value, float) else int.__pos__(value)


def _number_round(value, digits=None):
    value = _plain_number(value)
    return round(value) if digits is None else round(value, digits)


def _number_trunc(value):
    return int(value)


def _number_floor(value):
    whole = int(value)
    return whole - 1 if whole > value else whole


def _number_ceil(value):
    whole = int(value)
    return whole + 1 if whole < value else whole


def _number_divmod(value, other):
    if not isinstance(other, (int, float)):
        return NotImplemented
    return divmod(_plain_number(value), _plain_number(other))


def _to_bytes(value, length=1, byteorder='big', signed=False):
    if not isinstance(length, int):
        length = _index(length)
    return int.to_bytes(value, length, byteorder, signed=_bool(signed))


def _from_bytes_of(source, byteorder='big', signed=False):
    if not isinstance(source, (bytes, bytearray)):
        source = [byte if isinstance(byte, int) else _index(byte) for byte in source]
    return int.from_bytes(source, byteorder, signed=_bool(signed))


def _float_fromhex(text):
    body = text.strip().lower()
    negative = body[:1] == '-'
    if body[:1] in ('-', '+'):
        body = body[1:]
    if body in ('inf', 'infinity', 'nan'):
        made = float(body)
        return -made if negative else made
    if body[:2] == '0x':
        body = body[2:]
    digits, mark, power = body.partition('p')
    whole, point, rest = digits.partition('.')
    good = whole + rest
    for char in good:
        if char not in '0123456789abcdef':
            good = ''
            break
    number = power[1:] if power[:1] in ('-', '+') else power
    if not good or len(good) > 500 or mark and not number.isdigit() or len(number) > 8:
        raise ValueError('invalid hexadecimal floating-point string')
    bits = int(good, 16)
    exponent = (int(power) if mark else 0) - 4 * len(rest)
    made = _scaled(bits, exponent)
    return -made if negative else made


def _scaled(bits, exponent):
    # Rounded once, half to even, also where the smallest numbers have fewer digits.
    if not bits:
        return 0.0
    top = bits.bit_length() + exponent
    if top > 1024:
        raise OverflowError('hexadecimal value too large to represent as a float')
    keep = max(min(53, top + 1074), 0)
    cut = bits.bit_length() - keep
    if cut > 0:
        rest = bits & (1 << cut) - 1
        half = 1 << cut - 1
        bits >>= cut
        exponent += cut
        if rest > half or rest == half and bits & 1:
            bits += 1
    if bits.bit_length() + exponent > 1024:
        raise OverflowError('hexadecimal value too large to represent as a float')
    made = float(bits)
    while exponent > 0:
        step = min(exponent, 900)
        made *= 2.0 ** step
        exponent -= step
    while exponent < 0:
        step = min(-exponent, 900)
        made /= 2.0 ** step
        exponent += step
    return made
