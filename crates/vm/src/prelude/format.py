# `%` and `str.format`.

def _percent(template, values):
    out = []
    index = 0
    single = not isinstance(values, tuple)
    args = (values,) if single else values
    used = 0
    length = len(template)
    while True:
        at = template.find('%', index)
        if at < 0:
            out.append(template[index:])
            break
        out.append(template[index:at])
        at += 1
        if at >= length:
            raise ValueError('incomplete format')
        key = None
        if template[at] == '(':
            end = template.find(')', at)
            if end < 0:
                raise ValueError('incomplete format key')
            key = template[at + 1:end]
            at = end + 1
        flags = ''
        while at < length and template[at] in '-+ #0':
            flags += template[at]
            at += 1
        width = ''
        if at < length and template[at] == '*':
            if used >= len(args):
                raise TypeError('not enough arguments for format string')
            if not isinstance(args[used], int):
                raise TypeError('* wants int')
            width = str(args[used])
            if width.startswith('-'):
                flags += '-'
                width = width[1:]
            used += 1
            at += 1
        while at < length and template[at].isdigit():
            width += template[at]
            at += 1
        precision = None
        if at < length and template[at] == '.':
            at += 1
            precision = ''
            if at < length and template[at] == '*':
                if used >= len(args):
                    raise TypeError('not enough arguments for format string')
                if not isinstance(args[used], int):
                    raise TypeError('* wants int')
                precision = str(max(args[used], 0))
                used += 1
                at += 1
            while at < length and template[at].isdigit():
                precision += template[at]
                at += 1
            precision = int(precision) if precision else 0
        if at >= length:
            raise ValueError('incomplete format')
        kind = template[at]
        index = at + 1
        if kind == '%':
            out.append('%')
            continue
        if key is not None:
            if not single or isinstance(values, str) or not hasattr(values, '__getitem__'):
                raise TypeError('format requires a mapping')
            value = values[key]
        else:
            if used >= len(args):
                raise TypeError('not enough arguments for format string')
            value = args[used]
            used += 1
        if kind not in 'srcadiuxXoeEfFgG':
            raise ValueError("unsupported format character '" + kind + "' (" + hex(ord(kind)) + ') at index ' + str(index - 1))
        out.append(_percent_one(value, kind, flags, width, precision))
    if used < len(args) and not (single and not isinstance(values, str) and hasattr(values, '__getitem__')):
        raise TypeError('not all arguments converted during string formatting')
    return ''.join(out)


def _percent_one(value, kind, flags, width, precision):
    if kind in 'sra':
        text = str(value) if kind == 's' else repr(value) if kind == 'r' else ascii(value)
        if precision is not None:
            text = text[:precision]
        if width:
            return text.ljust(int(width)) if '-' in flags else text.rjust(int(width))
        return text
    if kind == 'c':
        if isinstance(value, str):
            if len(value) != 1:
                raise TypeError('%c requires int or char')
            text = value
        elif not isinstance(value, int):
            raise TypeError('%c requires int or char')
        elif value < 0 or value > 0x10ffff:
            raise OverflowError('%c arg not in range(0x110000)')
        else:
            text = chr(value)
        if width:
            return text.ljust(int(width)) if '-' in flags else text.rjust(int(width))
        return text
    spec = ''
    if '-' in flags:
        spec += '<'
    if '+' in flags:
        spec += '+'
    elif ' ' in flags:
        spec += ' '
    if '#' in flags:
        spec += '#'
    if '0' in flags and '-' not in flags:
        spec += '0'
    spec += width
    if kind in 'diu':
        if not isinstance(value, (int, float)) and _user_method(value, '__int__') is None and _user_method(value, '__trunc__') is None:
            raise TypeError('%' + kind + ' format: a real number is required, not ' + type(value).__name__)
        value = int(value)
        if precision is not None:
            digits = str(abs(value)).zfill(precision)
            text = ('-' if value < 0 else '+' if '+' in flags else '') + digits
            return text.ljust(int(width or 0)) if '-' in flags else text.rjust(int(width or 0))
        return format(value, (spec if '<' in spec or '0' in flags else ('>' + spec)) + 'd')
    if kind in 'xXo':
        if not isinstance(value, int):
            raise TypeError('%' + kind + ' format: an integer is required, not ' + type(value).__name__)
        return format(value, spec + kind)
    if kind in 'eEfFgG':
        if not isinstance(value, (int, float)) and _user_method(value, '__float__') is None:
            raise TypeError('must be real number, not ' + type(value).__name__)
        return format(float(value), spec + '.' + str(6 if precision is None else precision) + kind)
    raise ValueError("unsupported format character '" + kind + "' (" + hex(ord(kind)) + ')')


def _format_method(template, *args, **kwargs):
    return _format_template(template, args, kwargs, [0])


def _format_template(template, args, kwargs, auto):
    out = []
    index = 0
    length = len(template)
    while index < length:
        char = template[index]
        if char == '{':
            if template[index + 1:index + 2] == '{':
                out.append('{')
                index += 2
                continue
            depth = 1
            end = index + 1
            while end < length and depth:
                if template[end] == '{':
                    depth += 1
                elif template[end] == '}':
                    depth -= 1
                end += 1
            if depth:
                if index + 1 == length:
                    raise ValueError("Single '{' encountered in format string")
                raise ValueError("expected '}' before end of string")
            out.append(_format_template_field(template[index + 1:end - 1], args, kwargs, auto))
            index = end
        elif char == '}':
            if template[index + 1:index + 2] != '}':
                raise ValueError("Single '}' encountered in format string")
            out.append('}')
            index += 2
        else:
            end = index
            while end < length and template[end] not in '{}':
                end += 1
            out.append(template[index:end])
            index = end
    return ''.join(out)


def _format_template_field(field, args, kwargs, auto):
    name, colon, spec = field.partition(':')
    name, bang, convert = name.partition('!')
    end = 0
    while end < len(name) and name[end] not in '.[':
        end += 1
    head = name[:end]
    rest = name[end:]
    if head == '':
        if auto[0] is None:
            raise ValueError('cannot switch from manual field specification to automatic field numbering')
        head = auto[0]
        auto[0] += 1
        if head >= len(args):
            raise IndexError('Replacement index ' + str(head) + ' out of range for positional args tuple')
        value = args[head]
    elif head.isdigit():
        if auto[0]:
            raise ValueError('cannot switch from automatic field numbering to manual field specification')
        auto[0] = None
        if int(head) >= len(args):
            raise IndexError('Replacement index ' + head + ' out of range for positional args tuple')
        value = args[int(head)]
    else:
        value = kwargs[head]
    while rest:
        if rest[0] == '.':
            end = 1
            while end < len(rest) and rest[end] not in '.[':
                end += 1
            value = getattr(value, rest[1:end])
            rest = rest[end:]
        else:
            end = rest.find(']')
            if end < 0:
                raise ValueError("Missing ']' in format string")
            key = rest[1:end]
            value = value[int(key)] if key.isdigit() else value[key]
            rest = rest[end + 1:]
    if '{' in spec:
        # Its fields are counted after this one.
        spec = _format_template(spec, args, kwargs, auto)
    if bang and convert not in ('s', 'r', 'a'):
        raise ValueError("unmatched '{' in format spec" if not convert else 'Unknown conversion specifier ' + convert)
    return _format_field(value, spec, 2 if convert == 's' else 4 if convert == 'r' else 6 if convert == 'a' else 0)


def _format_map(template, mapping):
    return _format_template(template, (), mapping, [0])


def _percent_bytes(template, values):
    # By way of text in which each byte is a character.
    def part(value):
        if isinstance(value, (bytes, bytearray)):
            return bytes(value).decode('latin-1')
        if isinstance(value, str):
            raise TypeError("%b requires a bytes-like object, or an object that implements __bytes__, not 'str'")
        return value
    if isinstance(values, tuple):
        values = tuple([part(value) for value in values])
    elif isinstance(values, dict):
        values = {key.decode('latin-1'): part(value) for key, value in values.items()}
    else:
        values = part(values)
    made = _percent(bytes(template).decode('latin-1').replace('%b', '%s'), values).encode('latin-1')
    return bytearray(made) if isinstance(template, bytearray) else made
