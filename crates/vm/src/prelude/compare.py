# Comparison.

def _first_difference(a, b):
    index = 0
    for x, y in zip(a, b):
        if not (x is y or x == y):
            return index
        index += 1
    return -1


def _both(a, b, kind):
    return isinstance(a, kind) and isinstance(b, kind)


def _is_view(value):
    return type(value).__name__ in ('dict_keys', 'dict_items')


def _all_in(a, b):
    # Views may have values that no set can hold.
    for item in a:
        if item not in b:
            return False
    return True


def _eq(a, b):
    if _both(a, b, list) or _both(a, b, tuple):
        return len(a) == len(b) and _first_difference(a, b) < 0
    if _both(a, b, dict):
        if len(a) != len(b):
            return False
        for key, value in a.items():
            if key not in b:
                return False
            other = b[key]
            if not (value is other or value == other):
                return False
        return True
    if _both(a, b, (set, frozenset)):
        if len(a) != len(b):
            return False
        return _issubset(a, b)
    kind = type(a).__name__
    if kind == 'dict_keys' or kind == 'dict_items':
        if not _is_view(b) and not isinstance(b, (set, frozenset)):
            return False
        return len(a) == len(b) and _all_in(a, b)
    if _is_view(b):
        return _eq(b, a)
    return a is b


def _ne(a, b):
    return not _eq(a, b)


def _lt(a, b):
    if _is_view(a) or _is_view(b):
        return len(a) < len(b) and _all_in(a, b)
    if _both(a, b, (set, frozenset)):
        return len(a) < len(b) and _issubset(a, b)
    at = _first_difference(a, b)
    return len(a) < len(b) if at < 0 else a[at] < b[at]


def _le(a, b):
    if _is_view(a) or _is_view(b):
        return len(a) <= len(b) and _all_in(a, b)
    if _both(a, b, (set, frozenset)):
        return _issubset(a, b)
    at = _first_difference(a, b)
    return len(a) <= len(b) if at < 0 else a[at] <= b[at]


def _gt(a, b):
    if _is_view(a) or _is_view(b):
        return len(a) > len(b) and _all_in(b, a)
    if _both(a, b, (set, frozenset)):
        return _lt(b, a)
    at = _first_difference(a, b)
    return len(a) > len(b) if at < 0 else a[at] > b[at]


def _ge(a, b):
    if _is_view(a) or _is_view(b):
        return len(a) >= len(b) and _all_in(b, a)
    if _both(a, b, (set, frozenset)):
        return _le(b, a)
    at = _first_difference(a, b)
    return len(a) >= len(b) if at < 0 else a[at] >= b[at]


def _contains(container, item):
    if isinstance(container, (dict, set, frozenset)):
        return _find_key(container, item) >= 0
    if type(container).__name__ == 'dict_keys':
        return _contains(set(container), item)
    if _user_method(container, '__iter__') is None and not hasattr(container, '__getitem__') and not hasattr(container, '__iter__'):
        raise TypeError("argument of type '" + type(container).__name__ + "' is not iterable")
    for found in container:
        if found is item or found == item:
            return True
    return False


def _seq_index(sequence, item, start=0, stop=None):
    if stop is None:
        stop = len(sequence)
    index = start
    while index < stop and index < len(sequence):
        found = sequence[index]
        if found is item or found == item:
            return index
        index += 1
    if isinstance(sequence, tuple):
        raise ValueError('tuple.index(x): x not in tuple')
    raise ValueError(repr(item) + ' is not in list')


def _seq_count(sequence, item):
    count = 0
    for found in sequence:
        if found is item or found == item:
            count += 1
    return count


def _list_remove(sequence, item):
    index = 0
    for found in sequence:
        if found is item or found == item:
            del sequence[index]
            return
        index += 1
    raise ValueError('list.remove(x): x not in list')
