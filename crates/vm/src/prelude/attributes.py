# Attributes, numbers and the rest.

def _getattr_default(value, name, default):
    try:
        return getattr(value, name)
    except AttributeError:
        return default


def _hasattr(value, name):
    try:
        getattr(value, name)
    except AttributeError:
        return False
    return True


def _bool(value):
    return True if value else False


def _not(value):
    return False if value else True


def _divmod(a, b):
    method = _user_method(a, '__divmod__')
    if method is not None:
        made = method(a, b)
        if made is not NotImplemented:
            return made
    method = _user_method(b, '__rdivmod__')
    if method is not None:
        made = method(b, a)
        if made is not NotImplemented:
            return made
    if isinstance(a, (int, float)) and isinstance(b, (int, float)) or _user_method(a, '__floordiv__') is not None:
        return (a // b, a % b)
    raise TypeError("unsupported operand type(s) for divmod(): '" + type(a).__name__ + "' and '" + type(b).__name__ + "'")


def _compose(function, method, value):
    return function(method(value))


def _round_int(value, places):
    unit = 10 ** places
    quotient, rest = divmod(value, unit)
    if rest * 2 > unit or (rest * 2 == unit and quotient % 2 == 1):
        quotient += 1
    return quotient * unit


def dir(value=_nothing):
    hook = None if value is _nothing else _user_method(value, '__dir__')
    if hook is not None:
        return sorted(hook(value))
    names = []
    for name in _own_names(value):
        if name not in names:
            names.append(name)
    return sorted(names)
