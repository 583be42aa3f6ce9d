class JSONDecodeError(ValueError):
    __module__ = 'json.decoder'

    def __init__(self, msg, doc='', pos=0):
        line = doc.count('\n', 0, pos) + 1
        column = pos - doc.rfind('\n', 0, pos)
        ValueError.__init__(self, msg + ': line ' + str(line) + ' column ' + str(column) + ' (char ' + str(pos) + ')')
        self.msg = msg
        self.doc = doc
        self.pos = pos
        self.lineno = line
        self.colno = column


_ESCAPES = {'"': '\\"', '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t', '\b': '\\b', '\f': '\\f'}


def _quote(text, ensure_ascii):
    plain = True
    for char in text:
        if char in _ESCAPES or char < ' ' or char > '~':
            plain = False
            break
    if plain:
        return '"' + text + '"'
    out = []
    for char in text:
        if char in _ESCAPES:
            out.append(_ESCAPES[char])
        elif char < ' ' or (ensure_ascii and char > '~'):
            code = ord(char)
            if code > 65535:
                code -= 65536
                out.append('\\u' + format(55296 + (code >> 10), '04x') + '\\u' + format(56320 + (code & 1023), '04x'))
            else:
                out.append('\\u' + format(code, '04x'))
        else:
            out.append(char)
    return '"' + ''.join(out) + '"'


class JSONEncoder:
    def __init__(self, *, ensure_ascii=True, indent=None, separators=None, sort_keys=False, default=None, skipkeys=False, allow_nan=True, check_circular=True):
        self.ensure_ascii = ensure_ascii
        self.indent = ' ' * indent if isinstance(indent, int) else indent
        if separators is not None:
            self.item_separator, self.key_separator = separators
        else:
            self.item_separator = ', ' if indent is None else ','
            self.key_separator = ': '
        self.sort_keys = sort_keys
        self.allow_nan = allow_nan
        self.skipkeys = skipkeys
        if default is not None:
            self.default = default

    def default(self, value):
        raise TypeError('Object of type ' + type(value).__name__ + ' is not JSON serializable')

    def encode(self, value):
        return self._write(value, '\n', 0)

    def _float(self, value):
        if value != value:
            text = 'NaN'
        elif value == float('inf'):
            text = 'Infinity'
        elif value == float('-inf'):
            text = '-Infinity'
        else:
            return float.__repr__(value)
        if not self.allow_nan:
            raise ValueError('Out of range float values are not JSON compliant')
        return text

    def _key(self, key):
        if isinstance(key, str):
            return key
        if key is True:
            return 'true'
        if key is False:
            return 'false'
        if key is None:
            return 'null'
        if isinstance(key, int):
            return int.__repr__(key)
        if isinstance(key, float):
            return self._float(key)
        raise TypeError('keys must be str, int, float, bool or None, not ' + type(key).__name__)

    def _write(self, value, newline, depth):
        if isinstance(value, str):
            return _quote(value, self.ensure_ascii)
        if value is None:
            return 'null'
        if value is True:
            return 'true'
        if value is False:
            return 'false'
        if isinstance(value, int):
            return int.__repr__(value)
        if isinstance(value, float):
            return self._float(value)
        if depth > 100:
            raise ValueError('Circular reference detected')
        inner = newline + self.indent if self.indent is not None else ''
        outer = newline if self.indent is not None else ''
        if isinstance(value, (list, tuple)):
            if not value:
                return '[]'
            parts = [self._write(item, inner, depth + 1) for item in value]
            return '[' + inner + (self.item_separator + inner).join(parts) + outer + ']'
        if isinstance(value, dict):
            if not value:
                return '{}'
            pairs = value.items()
            if self.skipkeys:
                pairs = [pair for pair in pairs if pair[0] is None or isinstance(pair[0], (str, int, float))]
            if self.sort_keys:
                pairs = sorted(pairs)
            parts = [_quote(self._key(key), self.ensure_ascii) + self.key_separator + self._write(item, inner, depth + 1) for key, item in pairs]
            return '{' + inner + (self.item_separator + inner).join(parts) + outer + '}'
        return self._write(self.default(value), newline, depth + 1)


def dumps(obj, *, cls=None, **options):
    return (JSONEncoder if cls is None else cls)(**options).encode(obj)


def dump(obj, fp, *, cls=None, **options):
    fp.write(dumps(obj, cls=cls, **options))


class _Reader:
    def __init__(self, text, hook, pairs_hook, parse_float, parse_int):
        self.text = text
        self.pairs_hook = pairs_hook
        self.at = 0
        self.hook = hook
        self.parse_float = parse_float
        self.parse_int = parse_int

    def fail(self, message, at=None):
        raise JSONDecodeError(message, self.text, self.at if at is None else at)

    def space(self):
        text = self.text
        at = self.at
        while text[at:at + 1] in (' ', '\n', '\t', '\r'):
            at += 1
        self.at = at

    def value(self, depth):
        if depth > 100:
            raise RecursionError('maximum recursion depth exceeded while decoding a JSON value: 100 containers inside each other')
        text = self.text
        char = text[self.at:self.at + 1]
        if char == '"':
            return self.string()
        if char == '{':
            return self.object(depth)
        if char == '[':
            return self.array(depth)
        for word, value in (('null', None), ('true', True), ('false', False), ('NaN', float('nan')), ('Infinity', float('inf')), ('-Infinity', float('-inf'))):
            if text.startswith(word, self.at):
                self.at += len(word)
                return value
        return self.number()

    def number(self):
        text = self.text
        start = at = self.at
        if text[at:at + 1] == '-':
            at += 1
        digits = at
        while text[at:at + 1].isdigit():
            at += 1
        if at == digits:
            self.fail('Expecting value', start)
        if text[digits] == '0' and at > digits + 1:
            at = digits + 1
        real = False
        if text[at:at + 1] == '.' and text[at + 1:at + 2].isdigit():
            real = True
            at += 1
            while text[at:at + 1].isdigit():
                at += 1
        if text[at:at + 1] in ('e', 'E'):
            mark = at + 1
            if text[mark:mark + 1] in ('+', '-'):
                mark += 1
            if text[mark:mark + 1].isdigit():
                real = True
                at = mark
                while text[at:at + 1].isdigit():
                    at += 1
        self.at = at
        if real:
            return (self.parse_float or float)(text[start:at])
        return (self.parse_int or int)(text[start:at])

    def string(self):
        text = self.text
        start = self.at
        at = start + 1
        out = []
        while True:
            quote = text.find('"', at)
            if quote < 0:
                self.fail('Unterminated string starting at', start)
            slash = text.find('\\', at, quote)
            if slash < 0:
                part = text[at:quote]
                for char in part:
                    if char < ' ':
                        self.fail('Invalid control character at', at + part.index(char))
                out.append(part)
                self.at = quote + 1
                return ''.join(out)
            out.append(text[at:slash])
            char = text[slash + 1:slash + 2]
            at = slash + 2
            if char == 'u':
                code = self.unit(at)
                at += 4
                if 55296 <= code < 56320 and text[at:at + 2] == '\\u':
                    low = self.unit(at + 2)
                    if 56320 <= low < 57344:
                        code = 65536 + ((code - 55296) << 10) + (low - 56320)
                        at += 6
                out.append(chr(code))
            elif char and char in '"\\/bfnrt':
                out.append({'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}.get(char, char))
            else:
                self.fail('Invalid \\escape', slash)

    def unit(self, at):
        digits = self.text[at:at + 4]
        if len(digits) != 4:
            self.fail('Invalid \\uXXXX escape', at)
        try:
            return int(digits, 16)
        except ValueError:
            self.fail('Invalid \\uXXXX escape', at)

    def array(self, depth):
        self.at += 1
        items = []
        self.space()
        if self.text[self.at:self.at + 1] == ']':
            self.at += 1
            return items
        while True:
            self.space()
            items.append(self.value(depth + 1))
            self.space()
            char = self.text[self.at:self.at + 1]
            if char == ']':
                self.at += 1
                return items
            if char != ',':
                self.fail("Expecting ',' delimiter")
            self.at += 1

    def made(self, table, pairs):
        if self.pairs_hook is not None:
            return self.pairs_hook(pairs)
        return table if self.hook is None else self.hook(table)

    def object(self, depth):
        self.at += 1
        table = {}
        pairs = []
        self.space()
        if self.text[self.at:self.at + 1] == '}':
            self.at += 1
            return self.made(table, pairs)
        while True:
            self.space()
            if self.text[self.at:self.at + 1] != '"':
                self.fail('Expecting property name enclosed in double quotes')
            key = self.string()
            self.space()
            if self.text[self.at:self.at + 1] != ':':
                self.fail("Expecting ':' delimiter")
            self.at += 1
            self.space()
            table[key] = self.value(depth + 1)
            if self.pairs_hook is not None:
                pairs.append((key, table[key]))
            self.space()
            char = self.text[self.at:self.at + 1]
            if char == '}':
                self.at += 1
                return self.made(table, pairs)
            if char != ',':
                self.fail("Expecting ',' delimiter")
            self.at += 1


def loads(s, *, cls=None, object_hook=None, parse_float=None, parse_int=None, object_pairs_hook=None):
    if isinstance(s, (bytes, bytearray)):
        s = s.decode('utf-8')
    if not isinstance(s, str):
        raise TypeError('the JSON object must be str, bytes or bytearray, not ' + type(s).__name__)
    reader = _Reader(s, object_hook, object_pairs_hook, parse_float, parse_int)
    reader.space()
    value = reader.value(0)
    reader.space()
    if reader.at != len(s):
        raise JSONDecodeError('Extra data', s, reader.at)
    return value


def load(fp, **options):
    return loads(fp.read(), **options)
