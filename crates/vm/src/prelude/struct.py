class error(Exception):
    pass


_RANGES = {'b': 'byte format requires -128 <= number <= 127', 'B': 'ubyte format requires 0 <= number <= 255',
           'h': "'h' format requires -32768 <= number <= 32767",
           'i': "'i' format requires -2147483648 <= number <= 2147483647",
           'l': "'l' format requires -2147483648 <= number <= 2147483647",
           'H': 'ushort format requires 0 <= number <= 65535',
           'I': "'I' format requires 0 <= number <= 4294967295",
           'L': "'L' format requires 0 <= number <= 4294967295"}
_SIZES = {'b': 1, 'B': 1, '?': 1, 'h': 2, 'H': 2, 'i': 4, 'I': 4, 'l': 4, 'L': 4, 'q': 8, 'Q': 8, 'e': 2, 'f': 4, 'd': 8, 'x': 1, 'c': 1}


def _parse(form):
    order = 'little'
    native = True
    if form[:1] in ('<', '>', '!', '=', '@'):
        native = form[0] == '@'
        if form[0] in '>!':
            order = 'big'
        form = form[1:]
    fields = []
    count = ''
    offset = 0
    for char in form:
        if char.isdigit():
            count += char
            continue
        if char.isspace():
            continue
        number = int(count) if count else 1
        size = _SIZES.get(char, 1)
        if native and char in 'lLqQ':
            size = 8
        if native and size > 1:
            gap = -offset % size
            if gap:
                fields.append(('x', gap, 1))
                offset += gap
        if char in 'sp':
            fields.append(('s', number, number))
            offset += number
        elif char in _SIZES:
            fields.append((char, number, size))
            offset += number * size
        else:
            raise error('bad char in struct format')
        count = ''
    return order, fields


def calcsize(form):
    order, fields = _parse(form)
    return sum([count if kind == 's' else count * size for kind, count, size in fields])


def pack(form, *values):
    order, fields = _parse(form)
    wanted = sum([1 if kind == 's' else 0 if kind == 'x' else count for kind, count, size in fields])
    if wanted != len(values):
        raise error('pack expected ' + str(wanted) + ' items for packing (got ' + str(len(values)) + ')')
    out = bytearray()
    at = 0
    for kind, count, size in fields:
        if kind == 'x':
            out += bytes(count)
        elif kind == 's':
            if not isinstance(values[at], (bytes, bytearray)):
                raise error("argument for 's' must be a bytes object")
            out += bytes(values[at][:count]).ljust(count, b'\0')
            at += 1
        else:
            for _ in range(count):
                out += _one(kind, size, order, values[at])
                at += 1
    return bytes(out)


def _one(kind, size, order, value):
    if kind == '?':
        return b'\1' if value else b'\0'
    if kind == 'c':
        if not isinstance(value, (bytes, bytearray)) or len(value) != 1:
            raise error('char format requires a bytes object of length 1')
        return value
    if kind in 'efd':
        if not isinstance(value, (int, float)):
            raise error('required argument is not a float')
        return _float_bits(float(value), size).to_bytes(size, order)
    if not isinstance(value, int):
        raise error('required argument is not an integer')
    try:
        return value.to_bytes(size, order, signed=kind.islower())
    except OverflowError:
        raise error(_RANGES.get(kind, 'argument out of range')) from None


def unpack(form, data):
    if calcsize(form) != len(data):
        raise error('unpack requires a buffer of ' + str(calcsize(form)) + ' bytes')
    return unpack_from(form, data)


def unpack_from(form, data, offset=0):
    order, fields = _parse(form)
    if len(data) - offset < calcsize(form):
        raise error('unpack_from requires a buffer of at least ' + str(calcsize(form) + offset)
                    + ' bytes for unpacking ' + str(calcsize(form)) + ' bytes at offset ' + str(offset)
                    + ' (actual buffer size is ' + str(len(data)) + ')')
    values = []
    for kind, count, size in fields:
        if kind == 'x':
            offset += count
        elif kind == 's':
            values.append(bytes(data[offset:offset + count]))
            offset += count
        else:
            for _ in range(count):
                part = data[offset:offset + size]
                if kind == '?':
                    values.append(part != b'\0')
                elif kind == 'c':
                    values.append(bytes(part))
                elif kind in 'efd':
                    values.append(_bits_float(int.from_bytes(part, order), size))
                else:
                    values.append(int.from_bytes(part, order, signed=kind.islower()))
                offset += size
    return tuple(values)


def pack_into(form, buffer, offset, *values):
    data = pack(form, *values)
    if offset < 0:
        offset += len(buffer)
    if offset + len(data) > len(buffer):
        raise error('pack_into requires a buffer of at least ' + str(offset + len(data)) + ' bytes for packing ' + str(len(data)) + ' bytes at offset ' + str(offset) + ' (actual buffer size is ' + str(len(buffer)) + ')')
    buffer[offset:offset + len(data)] = data


def iter_unpack(form, data):
    size = calcsize(form)
    if size == 0 or len(data) % size:
        raise error('iterative unpacking requires a buffer of a multiple of ' + str(size) + ' bytes')
    for offset in range(0, len(data), size):
        yield unpack_from(form, data, offset)


class Struct:
    def __init__(self, format):
        self.format = format
        self.size = calcsize(format)

    def pack(self, *values):
        return pack(self.format, *values)

    def pack_into(self, buffer, offset, *values):
        pack_into(self.format, buffer, offset, *values)

    def unpack(self, data):
        return unpack(self.format, data)

    def unpack_from(self, data, offset=0):
        return unpack_from(self.format, data, offset)

    def iter_unpack(self, data):
        return iter_unpack(self.format, data)
