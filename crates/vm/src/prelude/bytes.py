# Methods of bytes and bytearray that no program is in a hurry for. Results have the receiver's type.

def _bytes_like(model, value):
    return bytearray(value) if isinstance(model, bytearray) else bytes(value)


def _byte_text(value):
    return bytes(value).decode('latin-1')


def _byte_needle(value):
    return bytes([value]) if isinstance(value, int) else bytes(value)


def _byte_span(value, start, end):
    # As slices do: from the end, and cut to the length.
    start, end, _ = slice(start, end).indices(len(value))
    return start, end


def _bytes_find(value, sub, start=None, end=None):
    if start is not None and start > len(value):
        return -1
    start, end = _byte_span(value, start, end)
    if start > end:
        return -1
    at = _byte_text(value[start:end]).find(_byte_text(_byte_needle(sub)))
    return at if at < 0 else at + start


def _bytes_rfind(value, sub, start=None, end=None):
    if start is not None and start > len(value):
        return -1
    start, end = _byte_span(value, start, end)
    if start > end:
        return -1
    at = _byte_text(value[start:end]).rfind(_byte_text(_byte_needle(sub)))
    return at if at < 0 else at + start


def _bytes_index(value, sub, start=None, end=None):
    at = _bytes_find(value, sub, start, end)
    if at < 0:
        raise ValueError('subsection not found')
    return at


def _bytes_rindex(value, sub, start=None, end=None):
    at = _bytes_rfind(value, sub, start, end)
    if at < 0:
        raise ValueError('subsection not found')
    return at


def _bytes_count(value, sub, start=None, end=None):
    start, end = _byte_span(value, start, end)
    return _byte_text(value[start:end]).count(_byte_text(_byte_needle(sub)))


def _bytes_all(value, parts):
    return [_bytes_like(value, part.encode('latin-1')) for part in parts]


_BYTE_SPACE = ' \t\n\r\x0b\f'


def _bytes_strip(value, chars=None):
    chars = _BYTE_SPACE if chars is None else _byte_text(chars)
    return _bytes_like(value, _byte_text(value).strip(chars).encode('latin-1'))


def _bytes_lstrip(value, chars=None):
    chars = _BYTE_SPACE if chars is None else _byte_text(chars)
    return _bytes_like(value, _byte_text(value).lstrip(chars).encode('latin-1'))


def _bytes_rstrip(value, chars=None):
    chars = _BYTE_SPACE if chars is None else _byte_text(chars)
    return _bytes_like(value, _byte_text(value).rstrip(chars).encode('latin-1'))


def _bytes_split(value, sep=None, maxsplit=-1):
    if sep is not None:
        return _bytes_all(value, _byte_text(value).split(_byte_text(sep), maxsplit))
    out = []
    text = _byte_text(value).lstrip(_BYTE_SPACE)
    while text:
        if maxsplit >= 0 and len(out) == maxsplit:
            out.append(text)
            break
        end = 0
        while end < len(text) and text[end] not in _BYTE_SPACE:
            end += 1
        out.append(text[:end])
        text = text[end:].lstrip(_BYTE_SPACE)
    return _bytes_all(value, out)


def _bytes_rsplit(value, sep=None, maxsplit=-1):
    if sep is not None:
        return _bytes_all(value, _byte_text(value).rsplit(_byte_text(sep), maxsplit))
    out = []
    text = _byte_text(value).rstrip(_BYTE_SPACE)
    while text:
        if maxsplit >= 0 and len(out) == maxsplit:
            out.append(text)
            break
        start = len(text)
        while start and text[start - 1] not in _BYTE_SPACE:
            start -= 1
        out.append(text[start:])
        text = text[:start].rstrip(_BYTE_SPACE)
    out.reverse()
    return _bytes_all(value, out)


def _bytes_splitlines(value, keepends=False):
    out = []
    start = 0
    length = len(value)
    while start < length:
        end = start
        while end < length and value[end] != 10 and value[end] != 13:
            end += 1
        after = end
        if after < length:
            after += 2 if value[end:end + 2] == b'\r\n' else 1
        out.append(_bytes_like(value, value[start:after if keepends else end]))
        start = after
    return out


def _bytes_partition(value, sep):
    return tuple(_bytes_all(value, _byte_text(value).partition(_byte_text(sep))))


def _bytes_rpartition(value, sep):
    return tuple(_bytes_all(value, _byte_text(value).rpartition(_byte_text(sep))))


def _bytes_replace(value, old, new, count=-1):
    text = _byte_text(value).replace(_byte_text(old), _byte_text(new), count)
    return _bytes_like(value, text.encode('latin-1'))


def _bytes_removeprefix(value, prefix):
    return _bytes_like(value, value[len(prefix):] if value.startswith(prefix) else value)


def _bytes_removesuffix(value, suffix):
    return _bytes_like(value, value[:len(value) - len(suffix)] if suffix and value.endswith(suffix) else value)


def _bytes_zfill(value, width):
    sign = bytes(value[:1]) if value[:1] in (b'+', b'-') else b''
    rest = bytes(value[len(sign):])
    return _bytes_like(value, sign + b'0' * (width - len(value)) + rest)


def _bytes_center(value, width, fill=b' '):
    return _bytes_like(value, _byte_text(value).center(width, _byte_text(fill)).encode('latin-1'))


def _is_letter(byte):
    return 65 <= byte <= 90 or 97 <= byte <= 122


def _bytes_capitalize(value):
    return _bytes_like(value, value[:1].upper() + value[1:].lower())


def _bytes_swapcase(value):
    return _bytes_like(value, [byte ^ 32 if _is_letter(byte) else byte for byte in value])


def _bytes_title(value):
    out = []
    inside = False
    for byte in value:
        if _is_letter(byte):
            out.append(byte | 32 if inside else byte & ~32)
            inside = True
        else:
            out.append(byte)
            inside = False
    return _bytes_like(value, out)


def _bytes_isalpha(value):
    return len(value) > 0 and all([_is_letter(byte) for byte in value])


def _bytes_isdigit(value):
    return len(value) > 0 and all([48 <= byte <= 57 for byte in value])


def _bytes_isalnum(value):
    return len(value) > 0 and all([_is_letter(byte) or 48 <= byte <= 57 for byte in value])


def _bytes_isascii(value):
    return all([byte < 128 for byte in value])


def _bytes_isspace(value):
    return len(value) > 0 and all([byte == 32 or 9 <= byte <= 13 for byte in value])


def _bytes_isupper(value):
    return any([65 <= byte <= 90 for byte in value]) and not any([97 <= byte <= 122 for byte in value])


def _bytes_islower(value):
    return any([97 <= byte <= 122 for byte in value]) and not any([65 <= byte <= 90 for byte in value])


def _bytes_istitle(value):
    return any([_is_letter(byte) for byte in value]) and bytes(value) == bytes(_bytes_title(value))


def _bytes_expandtabs(value, tabsize=8):
    return _bytes_like(value, _byte_text(value).expandtabs(tabsize).encode('latin-1'))


def _bytes_maketrans(frm, to):
    if len(frm) != len(to):
        raise ValueError('maketrans arguments must have same length')
    table = bytearray(range(256))
    for a, b in zip(frm, to):
        table[a] = b
    return bytes(table)


def _bytes_translate(value, table, /, delete=b''):
    if table is not None and len(table) != 256:
        raise ValueError('translation table must be 256 characters long')
    kept = [byte for byte in value if byte not in delete] if delete else value
    return _bytes_like(value, kept if table is None else [table[byte] for byte in kept])


def _bytearray_insert(value, index, item):
    value[index:index] = bytes([item])


def _bytearray_remove(value, item):
    at = _bytes_find(value, item)
    if at < 0:
        raise ValueError('value not found in bytearray')
    del value[at]


def _bytearray_reverse(value):
    value[:] = value[::-1]


def _bytearray_copy(value):
    return bytearray(value)


def _byte_items(source):
    if _user_method(source, '__index__') is not None:
        return _index(source)
    return [byte if isinstance(byte, int) else _index(byte) for byte in source]


def _bytes_new(cls, source=b'', encoding=None, errors=None):
    made = bytes(_byte_items(source))
    return made if cls is bytes else _wrap(cls, made)


def _bytearray_new(cls, source=b'', encoding=None, errors=None):
    return bytearray(_byte_items(source))


def _bytearray_init(array, source=b'', encoding=None, errors=None):
    array[:] = bytearray(_byte_items(source))


def _bytearray_extend(array, source):
    array.extend(bytes(_byte_items(source)))
