# The module re over the machine's own matcher: linear time, no backtracking.


NOFLAG = 0
I = IGNORECASE = 2
M = MULTILINE = 8
S = DOTALL = 16
U = UNICODE = 32
X = VERBOSE = 64
A = ASCII = 256


class error(Exception):
    def __init__(self, msg, pattern=None, pos=None):
        self.msg = msg
        self.pattern = pattern
        self.pos = pos
        # One error stands for no place.
        if pattern is not None and pos is not None and not msg.startswith('look-behind'):
            msg = msg + ' at position ' + str(pos)
            self.lineno = pattern.count('\n', 0, pos) + 1
            self.colno = pos - pattern.rfind('\n', 0, pos)
            if '\n' in pattern:
                msg = msg + ' (line ' + str(self.lineno) + ', column ' + str(self.colno) + ')'
        super().__init__(msg)


PatternError = error


def compile(pattern, flags=0):
    if isinstance(pattern, Pattern):
        if flags:
            raise ValueError('cannot process flags argument with a compiled pattern')
        return pattern
    if isinstance(pattern, (bytes, bytearray)):
        raise TypeError('patterns of bytes are not supported; decode the bytes first')
    if not isinstance(pattern, str):
        raise TypeError('first argument must be string or compiled pattern')
    made = _compile(pattern, flags)
    if len(made) == 2:
        raise error(made[0], pattern, made[1])
    return Pattern(pattern, made[0], made[1], made[2], made[3])


class Pattern:
    def __init__(self, pattern, program, groups, names, flags):
        self.pattern = pattern
        self.flags = flags
        self.groups = groups
        self.groupindex = {names[i]: names[i + 1] for i in range(0, len(names), 2)}
        self._program = program

    def __repr__(self):
        text = repr(self.pattern)
        if len(text) > 200:
            text = text[:200]
        names = [name for name, bit in (('re.IGNORECASE', 2), ('re.MULTILINE', 8), ('re.DOTALL', 16), ('re.VERBOSE', 64), ('re.ASCII', 256)) if self.flags & bit]
        return 're.compile(' + text + (', ' + '|'.join(names) if names else '') + ')'

    def __eq__(self, other):
        if not isinstance(other, Pattern):
            return NotImplemented
        return self.pattern == other.pattern and self.flags == other.flags

    def __hash__(self):
        return hash((self.pattern, self.flags))

    def _one(self, string, pos, endpos, mode):
        if not isinstance(string, str):
            _refuse(string)
        if endpos is None:
            endpos = len(string)
        places = _match(self._program, string, pos, endpos, mode)
        if places is None:
            return None
        return Match(self, string, pos, endpos, places)

    def search(self, string, pos=0, endpos=None):
        return self._one(string, pos, endpos, 0)

    def match(self, string, pos=0, endpos=None):
        return self._one(string, pos, endpos, 1)

    def fullmatch(self, string, pos=0, endpos=None):
        return self._one(string, pos, endpos, 2)

    def _all(self, string, pos=0, endpos=None, count=0):
        if not isinstance(string, str):
            _refuse(string)
        if endpos is None:
            endpos = len(string)
        return _match_all(self._program, string, pos, endpos, count)

    def finditer(self, string, pos=0, endpos=None):
        return self._matches(string, pos, endpos, self._all(string, pos, endpos))

    def _matches(self, string, pos, endpos, places):
        if endpos is None:
            endpos = len(string)
        step = 2 * self.groups + 2
        for at in range(0, len(places), step):
            yield Match(self, string, pos, endpos, tuple(places[at:at + step]))

    def findall(self, string, pos=0, endpos=None):
        places = self._all(string, pos, endpos)
        step = 2 * self.groups + 2
        if self.groups == 0:
            return [string[places[at]:places[at + 1]] for at in range(0, len(places), step)]
        if self.groups == 1:
            return [string[places[at + 2]:places[at + 3]] if places[at + 2] >= 0 else '' for at in range(0, len(places), step)]
        out = []
        for at in range(0, len(places), step):
            out.append(tuple([string[places[i]:places[i + 1]] if places[i] >= 0 else '' for i in range(at + 2, at + step, 2)]))
        return out

    def split(self, string, maxsplit=0):
        if maxsplit < 0:
            return [string]
        places = self._all(string, 0, None, maxsplit)
        step = 2 * self.groups + 2
        out = []
        last = 0
        for at in range(0, len(places), step):
            out.append(string[last:places[at]])
            for i in range(at + 2, at + step, 2):
                out.append(string[places[i]:places[i + 1]] if places[i] >= 0 else None)
            last = places[at + 1]
        out.append(string[last:])
        return out

    def sub(self, repl, string, count=0):
        return self.subn(repl, string, count)[0]

    def subn(self, repl, string, count=0):
        if count < 0:
            return string, 0
        places = self._all(string, 0, None, count)
        step = 2 * self.groups + 2
        out = []
        last = 0
        made = 0
        parts = None if callable(repl) else _template(repl, self)
        for at in range(0, len(places), step):
            out.append(string[last:places[at]])
            if parts is None:
                out.append(repl(Match(self, string, 0, len(string), tuple(places[at:at + step]))))
            else:
                for part in parts:
                    if isinstance(part, int):
                        if places[at + 2 * part] >= 0:
                            out.append(string[places[at + 2 * part]:places[at + 2 * part + 1]])
                    else:
                        out.append(part)
            last = places[at + 1]
            made += 1
        out.append(string[last:])
        return ''.join(out), made


def _refuse(string):
    if isinstance(string, (bytes, bytearray)):
        raise TypeError('cannot use a string pattern on a bytes-like object')
    raise TypeError("expected string or bytes-like object, got '" + type(string).__name__ + "'")


_ESCAPES = {'n': '\n', 't': '\t', 'r': '\r', 'f': '\f', 'v': '\v', 'a': '\a', 'b': '\b', '\\': '\\'}


def _template(repl, pattern):
    # Text and numbers of groups, in turn.
    if '\\' not in repl:
        return [repl]
    parts = []
    index = 0
    length = len(repl)
    while index < length:
        at = repl.find('\\', index)
        if at < 0:
            parts.append(repl[index:])
            break
        if at > index:
            parts.append(repl[index:at])
        char = repl[at + 1:at + 2]
        index = at + 2
        if char == 'g':
            end = repl.find('>', index)
            if repl[index:index + 1] != '<':
                raise error('missing <', repl, index)
            if end < 0:
                raise error('missing >, unterminated name', repl, index + 1)
            name = repl[index + 1:end]
            index = end + 1
            if name.isdigit():
                number = int(name)
            elif name in pattern.groupindex:
                number = pattern.groupindex[name]
            else:
                raise IndexError("unknown group name '" + name + "'")
            if number > pattern.groups:
                raise error('invalid group reference ' + str(number), repl, at + 3)
            parts.append(number)
        elif char == '0':
            digits = ''
            while len(digits) < 2 and repl[index:index + 1] in ('0', '1', '2', '3', '4', '5', '6', '7'):
                digits += repl[index]
                index += 1
            parts.append(chr(int(digits or '0', 8)))
        elif char.isdigit():
            if repl[index:index + 1].isdigit():
                char += repl[index]
                index += 1
            number = int(char)
            if number > pattern.groups:
                raise error('invalid group reference ' + str(number), repl, at + 1)
            parts.append(number)
        elif char in _ESCAPES:
            parts.append(_ESCAPES[char])
        elif char == '':
            raise error('bad escape (end of pattern)', repl, at)
        elif char.isalpha() and char.isascii():
            raise error('bad escape \\' + char, repl, at)
        else:
            parts.append('\\' + char)
    return parts


class Match:
    def __init__(self, pattern, string, pos, endpos, places):
        self.re = pattern
        self.string = string
        self.pos = pos
        self.endpos = endpos
        self._places = places

    def __repr__(self):
        return '<re.Match object; span=' + repr(self.span()) + ', match=' + repr(self.group()) + '>'

    def _number(self, group):
        if isinstance(group, int):
            if 0 <= group <= self.re.groups:
                return group
        elif group in self.re.groupindex:
            return self.re.groupindex[group]
        raise IndexError('no such group')

    def _text(self, number, default=None):
        start = self._places[2 * number]
        return default if start < 0 else self.string[start:self._places[2 * number + 1]]

    def group(self, *groups):
        if not groups:
            return self._text(0)
        if len(groups) == 1:
            return self._text(self._number(groups[0]))
        return tuple([self._text(self._number(group)) for group in groups])

    def __getitem__(self, group):
        return self._text(self._number(group))

    def groups(self, default=None):
        return tuple([self._text(number, default) for number in range(1, self.re.groups + 1)])

    def groupdict(self, default=None):
        return {name: self._text(number, default) for name, number in self.re.groupindex.items()}

    def start(self, group=0):
        return self._places[2 * self._number(group)]

    def end(self, group=0):
        return self._places[2 * self._number(group) + 1]

    def span(self, group=0):
        number = self._number(group)
        return self._places[2 * number], self._places[2 * number + 1]

    @property
    def lastindex(self):
        # The group that closed last; of several that closed there, the outermost.
        last = None
        end = -1
        for number in range(1, self.re.groups + 1):
            if self._places[2 * number] >= 0 and self._places[2 * number + 1] > end:
                last = number
                end = self._places[2 * number + 1]
        return last

    @property
    def lastgroup(self):
        last = self.lastindex
        for name, number in self.re.groupindex.items():
            if number == last:
                return name
        return None

    def expand(self, template):
        return ''.join([self._text(part, '') if isinstance(part, int) else part for part in _template(template, self.re)])


def search(pattern, string, flags=0):
    return compile(pattern, flags).search(string)


def match(pattern, string, flags=0):
    return compile(pattern, flags).match(string)


def fullmatch(pattern, string, flags=0):
    return compile(pattern, flags).fullmatch(string)


def findall(pattern, string, flags=0):
    return compile(pattern, flags).findall(string)


def finditer(pattern, string, flags=0):
    return compile(pattern, flags).finditer(string)


def split(pattern, string, maxsplit=0, flags=0):
    return compile(pattern, flags).split(string, maxsplit)


def sub(pattern, repl, string, count=0, flags=0):
    return compile(pattern, flags).sub(repl, string, count)


def subn(pattern, repl, string, count=0, flags=0):
    return compile(pattern, flags).subn(repl, string, count)


_SPECIAL = {char: '\\' + char for char in '()[]{}?*+-|^$\\.&~# \t\n\r\v\f'}


def escape(pattern):
    return ''.join([_SPECIAL.get(char, char) for char in pattern])


def purge():
    pass
