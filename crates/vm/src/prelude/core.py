# The slow ways: operations that need methods written by the program. Names with an underscore are for
# the machine; the others are builtins.

def _collect(items):
    return [item for item in items]


def _plain(value):
    if not _iterates_natively(value):
        return [item for item in value]
    if _user_method(value, '__index__') is not None:
        return _index(value)
    return value if _user_method(value, '__float__') is None else float(value)


def _index(value):
    method = _user_method(value, '__index__')
    if method is None:
        raise TypeError("'" + type(value).__name__ + "' object cannot be interpreted as an integer")
    number = method(value)
    if not isinstance(number, int):
        raise TypeError('__index__ returned non-int (type ' + type(number).__name__ + ')')
    return number


def _repeat(sequence, count):
    return sequence * _index(count)


def _getitem_index(sequence, key):
    if isinstance(key, slice):
        parts = [part if part is None or isinstance(part, int) else _index(part) for part in (key.start, key.stop, key.step)]
        return sequence[parts[0]:parts[1]:parts[2]]
    return sequence[_index(key)]


def _with_lists(function, names, *args):
    # A native met an iterable or a number in Python: it gets a list or a number of ours instead.
    args = [_plain(arg) for arg in args]
    if names is None:
        return function(*args)
    split = len(args) - len(names)
    keywords = {}
    index = split
    for name in names:
        keywords[name] = args[index]
        index += 1
    return function(*args[:split], **keywords)


def _raise(kind):
    raise kind()


def _raise_from(kind, cause):
    if isinstance(kind, type):
        kind = kind()
    if isinstance(cause, type):
        cause = cause()
    raise kind from cause


def _throw_class(generator, kind, value=None):
    if value is None:
        value = kind()
    elif not isinstance(value, BaseException):
        value = kind(value)
    return generator.throw(value)


def _close_generator(generator):
    # What it raises meanwhile is nobody's.
    try:
        generator.close()
    except BaseException:
        pass


def exit(code=None):
    raise SystemExit(code)


def quit(code=None):
    raise SystemExit(code)
