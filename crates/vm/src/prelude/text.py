# Text.

def _print(*args, sep=' ', end='\n', file=None, flush=False, **unknown):
    if unknown:
        raise TypeError("'" + list(unknown)[0][:200] + "' is an invalid keyword argument for print()")
    if sep is None:
        sep = ' '
    if end is None:
        end = '\n'
    for name, part in (('sep', sep), ('end', end)):
        if not isinstance(part, str):
            raise TypeError(name + ' must be None or a string, not ' + type(part).__name__)
    if file is None:
        file = _redirected()
        if file is ...:
            _write(sep.join([str(arg) for arg in args]) + end)
            return
        if file is None:
            return
    if type(file).__module__ in ('io', 'sys'):
        file.write(sep.join([str(arg) for arg in args]) + end)
    else:
        # Whoever takes the text sees its parts.
        first = True
        for arg in args:
            if not first:
                file.write(sep)
            first = False
            file.write(str(arg))
        file.write(end)
    if flush:
        file.flush()


def _repr_items(items):
    return ', '.join([repr(item) for item in items])


def _repr(value):
    method = _user_method(value, '__repr__')
    if method is not None:
        return method(value)
    if _showing(value):
        return '[...]' if isinstance(value, list) else '(...)' if isinstance(value, tuple) else '{...}' if isinstance(value, dict) else '...'
    if isinstance(value, list):
        return '[' + _repr_items(value) + ']'
    if isinstance(value, tuple):
        if len(value) == 1:
            return '(' + repr(value[0]) + ',)'
        return '(' + _repr_items(value) + ')'
    if isinstance(value, dict):
        return '{' + ', '.join([repr(key) + ': ' + repr(item) for key, item in value.items()]) + '}'
    if type(value) is set:
        return '{' + _repr_items(value) + '}' if value else 'set()'
    if isinstance(value, (set, frozenset)):
        return type(value).__name__ + ('({' + _repr_items(value) + '})' if value else '()')
    if isinstance(value, BaseException):
        return type(value).__name__ + '(' + _repr_items(value.args) + ')'
    kind = type(value).__name__
    if kind == 'dict_keys' or kind == 'dict_values' or kind == 'dict_items':
        return kind + '([' + _repr_items(value) + '])'
    if kind == 'slice':
        return 'slice(' + _repr_items((value.start, value.stop, value.step)) + ')'
    return '<' + kind + ' object>'


def _str(value):
    for name in ('__str__',) if isinstance(value, BaseException) else ('__str__', '__repr__'):
        method = _user_method(value, name)
        if method is not None:
            return method(value)
    if isinstance(value, BaseException):
        if not value.args:
            return ''
        if len(value.args) == 1:
            if isinstance(value, KeyError):
                return repr(value.args[0])
            return str(value.args[0])
        if isinstance(value, OSError) and len(value.args) < 4:
            shown = '[Errno ' + str(value.args[0]) + '] ' + str(value.args[1])
            return shown if len(value.args) == 2 else shown + ': ' + repr(value.args[2])
        return _repr(value.args)
    return _repr(value)


def _str_new(cls, value='', encoding=None, errors=None):
    made = _str(value)
    return made if cls is str else _wrap(cls, made)


def _ascii(value):
    return ''.join([char if ord(char) < 128 else ascii(char)[1:-1] for char in repr(value)])


def _format(value, spec=''):
    method = _user_method(value, '__format__')
    if method is not None:
        return method(value, spec)
    return format(_str(value), spec)


def _format_field(value, spec, convert):
    if convert == 2:
        value = str(value)
    elif convert == 4:
        value = repr(value)
    elif convert == 6:
        value = ascii(value)
    if not spec and type(value) is str:
        return value
    return format(value, spec)


def _maketrans(a, b=None, c=None):
    if b is None:
        return {(ord(key) if isinstance(key, str) else key): value for key, value in a.items()}
    if len(a) != len(b):
        raise ValueError('the first two maketrans arguments must have equal length')
    table = {ord(x): ord(y) for x, y in zip(a, b)}
    if c is not None:
        for char in c:
            table[ord(char)] = None
    return table


def _translate(text, table):
    out = []
    for char in text:
        try:
            found = table[ord(char)]
        except LookupError:
            out.append(char)
            continue
        if found is None:
            continue
        out.append(chr(found) if isinstance(found, int) else found)
    return ''.join(out)


def _fromhex_array(text):
    return bytearray(_fromhex(text))
