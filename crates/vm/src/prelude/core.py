# The slow ways: operations that need methods written by the program. Names with an underscore are for
# the machine; the others are builtins.

def _collect(items):
    return [item for item in items]


def _with_lists(function, names, *args):
    # A native met an iterable in Python: it gets a list instead.
    args = [arg if _iterates_natively(arg) else [item for item in arg] for arg in args]
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


# Text.

def _print(*args, sep=' ', end='\n', file=None, flush=False):
    if sep is None:
        sep = ' '
    if end is None:
        end = '\n'
    text = sep.join([str(arg) for arg in args]) + end
    if file is None:
        _write(text)
    else:
        file.write(text)


def _repr_items(items):
    return ', '.join([repr(item) for item in items])


def _repr(value):
    method = _user_method(value, '__repr__')
    if method is not None:
        return method(value)
    if isinstance(value, list):
        return '[' + _repr_items(value) + ']'
    if isinstance(value, tuple):
        if len(value) == 1:
            return '(' + repr(value[0]) + ',)'
        return '(' + _repr_items(value) + ')'
    if isinstance(value, dict):
        return '{' + ', '.join([repr(key) + ': ' + repr(item) for key, item in value.items()]) + '}'
    if isinstance(value, set):
        return '{' + _repr_items(value) + '}' if value else 'set()'
    if isinstance(value, frozenset):
        return 'frozenset({' + _repr_items(value) + '})' if value else 'frozenset()'
    if isinstance(value, BaseException):
        return type(value).__name__ + '(' + _repr_items(value.args) + ')'
    kind = type(value).__name__
    if kind == 'dict_keys' or kind == 'dict_values' or kind == 'dict_items':
        return kind + '([' + _repr_items(value) + '])'
    if kind == 'slice':
        return 'slice(' + _repr_items((value.start, value.stop, value.step)) + ')'
    return '<' + kind + ' object>'


def _str(value):
    for name in ('__str__', '__repr__'):
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
        return _repr(value.args)
    return _repr(value)


def _str_new(cls, value='', encoding=None, errors=None):
    return _str(value)


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
    if not spec and isinstance(value, str):
        return value
    return format(value, spec)


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
            width = str(args[used])
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
                precision = str(args[used])
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
            value = values[key]
        else:
            if used >= len(args):
                raise TypeError('not enough arguments for format string')
            value = args[used]
            used += 1
        out.append(_percent_one(value, kind, flags, width, precision))
    if used < len(args) and not (single and isinstance(values, dict)):
        if not (single and not isinstance(values, (str, int, float, bytes)) and used == 0 and False):
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
        text = value if isinstance(value, str) else chr(value)
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
        if not isinstance(value, (int, float)):
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
        if not isinstance(value, (int, float)):
            raise TypeError('must be real number, not ' + type(value).__name__)
        return format(float(value), spec + '.' + str(6 if precision is None else precision) + kind)
    raise ValueError("unsupported format character '" + kind + "'")


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
    if '{' in spec:
        spec = _format_template(spec, args, kwargs, auto)
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
            end = rest.index(']')
            key = rest[1:end]
            value = value[int(key)] if key.isdigit() else value[key]
            rest = rest[end + 1:]
    return _format_field(value, spec, 2 if convert == 's' else 4 if convert == 'r' else 6 if convert == 'a' else 0)


def _format_map(template, mapping):
    return _format_template(template, (), mapping, [0])


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
        return _eq(set(a), set(b))
    return a is b


def _ne(a, b):
    return not _eq(a, b)


def _lt(a, b):
    if _both(a, b, (set, frozenset)):
        return len(a) < len(b) and _issubset(a, b)
    at = _first_difference(a, b)
    return len(a) < len(b) if at < 0 else a[at] < b[at]


def _le(a, b):
    if _both(a, b, (set, frozenset)):
        return _issubset(a, b)
    at = _first_difference(a, b)
    return len(a) <= len(b) if at < 0 else a[at] <= b[at]


def _gt(a, b):
    if _both(a, b, (set, frozenset)):
        return _lt(b, a)
    at = _first_difference(a, b)
    return len(a) > len(b) if at < 0 else a[at] > b[at]


def _ge(a, b):
    if _both(a, b, (set, frozenset)):
        return _le(b, a)
    at = _first_difference(a, b)
    return len(a) >= len(b) if at < 0 else a[at] >= b[at]


def _contains(container, item):
    if isinstance(container, (dict, set, frozenset)):
        return _find_key(container, item) >= 0
    if type(container).__name__ == 'dict_keys':
        return _contains(set(container), item)
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
    raise ValueError(repr(item) + ' is not in ' + ('list' if isinstance(sequence, list) else 'tuple'))


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


# Tables.

def _hash(value):
    method = _user_method(value, '__hash__')
    if method is not None:
        result = method(value)
        if not isinstance(result, int):
            raise TypeError('__hash__ method should return an integer')
        return hash(result)
    if isinstance(value, (tuple, frozenset)):
        return hash(tuple([hash(item) for item in value]))
    return hash(value)


def _find_key(table, key):
    pairs = _candidates(table, hash(key))
    index = 0
    while index < len(pairs):
        found = pairs[index + 1]
        if found is key or found == key:
            return pairs[index]
        index += 2
    return -1


def _dict_getitem(table, key):
    place = _find_key(table, key)
    if place < 0:
        missing = _user_method(table, '__missing__')
        if missing is not None:
            return missing(table, key)
        raise KeyError(key)
    return _value_at(table, place)


def _dict_get(table, key, default=None):
    place = _find_key(table, key)
    return default if place < 0 else _value_at(table, place)


def _dict_setitem(table, key, value):
    place = _find_key(table, key)
    if place < 0:
        _insert_hashed(table, hash(key), key, value)
    else:
        _set_value_at(table, place, value)


def _dict_delitem(table, key):
    place = _find_key(table, key)
    if place < 0:
        raise KeyError(key)
    _remove_place(table, place)


def _dict_setdefault(table, key, default=None):
    place = _find_key(table, key)
    if place < 0:
        _insert_hashed(table, hash(key), key, default)
        return default
    return _value_at(table, place)


_nothing = object()


def _dict_pop(table, key, default=_nothing):
    place = _find_key(table, key)
    if place < 0:
        if default is _nothing:
            raise KeyError(key)
        return default
    return _remove_place(table, place)


def _dict_update(target, source):
    if isinstance(source, dict):
        for key, value in source.items():
            target[key] = value
    elif hasattr(source, 'keys'):
        for key in source.keys():
            target[key] = source[key]
    else:
        raise TypeError("'" + type(source).__name__ + "' object is not a mapping")


def _dict_merge(target, source):
    if not hasattr(source, 'keys'):
        raise TypeError('argument after ** must be a mapping, not ' + type(source).__name__)
    for key in source.keys():
        if key in target:
            raise TypeError("got multiple values for keyword argument '" + str(key) + "'")
        target[key] = source[key]


def _dict_init(table, source=(), /, **more):
    if isinstance(source, dict) or hasattr(source, 'keys'):
        for key in source.keys():
            dict.__setitem__(table, key, source[key])
    else:
        index = 0
        for pair in source:
            pair = [item for item in pair]
            if len(pair) != 2:
                raise ValueError('dictionary update sequence element #' + str(index) + ' has length ' + str(len(pair)) + '; 2 is required')
            dict.__setitem__(table, pair[0], pair[1])
            index += 1
    for key in more:
        dict.__setitem__(table, key, more[key])


def _dict_new(cls, source=(), /, **more):
    table = {}
    _dict_init(table, source, **more)
    return table


def _dict_or(a, b):
    result = dict(a)
    _dict_update(result, b)
    return result


def _dict_ior(a, b):
    _dict_init(a, b)
    return a


def _fromkeys(keys, value=None):
    table = {}
    for key in keys:
        table[key] = value
    return table


def _set_add(target, item):
    if _find_key(target, item) < 0:
        _insert_hashed(target, hash(item), item, None)


def _set_discard(target, item):
    place = _find_key(target, item)
    if place >= 0:
        _remove_place(target, place)


def _set_remove(target, item):
    place = _find_key(target, item)
    if place < 0:
        raise KeyError(item)
    _remove_place(target, place)


def _set_update(target, source):
    for item in source:
        target.add(item)


def _set_update_all(target, *sources):
    for source in sources:
        for item in source:
            target.add(item)


def _set_new(cls, source=()):
    result = set()
    for item in source:
        result.add(item)
    return result


def _set_fill(target, source=()):
    _set_replace(target, _set_new(None, source))


def _frozenset_new(cls, source=()):
    return _freeze(_set_new(None, source))


def _like(model, result):
    return _freeze(result) if isinstance(model, frozenset) else result


def _as_set(source):
    return source if isinstance(source, (set, frozenset)) else _set_new(None, source)


def _set_union(first, *others):
    result = _set_new(None, first)
    for other in others:
        for item in other:
            result.add(item)
    return _like(first, result)


def _set_intersection(first, *others):
    result = _set_new(None, first)
    for other in others:
        other = _as_set(other)
        result = _set_new(None, [item for item in result if item in other])
    return _like(first, result)


def _set_difference(first, *others):
    result = _set_new(None, first)
    for other in others:
        other = _as_set(other)
        result = _set_new(None, [item for item in result if item not in other])
    return _like(first, result)


def _set_symmetric(first, other):
    other = _as_set(other)
    result = [item for item in first if item not in other] + [item for item in other if item not in first]
    return _like(first, _set_new(None, result))


def _set_intersection_update(target, *others):
    _set_replace(target, _set_intersection(_set_new(None, target), *others))


def _set_difference_update(target, *others):
    _set_replace(target, _set_difference(_set_new(None, target), *others))


def _issubset(a, b):
    b = _as_set(b)
    for item in a:
        if item not in b:
            return False
    return True


def _issuperset(a, b):
    return _issubset(_as_set(b), a)


def _isdisjoint(a, b):
    for item in b:
        if item in a:
            return False
    return True


def _view_and(a, b):
    b = _as_set(b)
    return {item for item in a if item in b}


def _view_or(a, b):
    return {*a, *b}


def _view_sub(a, b):
    b = _as_set(b)
    return {item for item in a if item not in b}


def _view_xor(a, b):
    return _set_symmetric(_as_set(a), b)


def _list_extend(target, source):
    for item in source:
        target.append(item)


def _list_iadd(target, source):
    for item in source:
        target.append(item)
    return target


def _set_slice(target, place, source):
    target[place] = [item for item in source]


# Iteration.

def _iter_by_index(value):
    index = 0
    while True:
        try:
            item = value[index]
        except (IndexError, StopIteration):
            return
        yield item
        index += 1


def _reversed_by_index(value):
    index = len(value) - 1
    while index >= 0:
        yield value[index]
        index -= 1


def _iter_until(function, sentinel):
    while True:
        value = function()
        if value == sentinel:
            return
        yield value


def _enumerate(cls, iterable, start=0):
    return _enumerate_steps(iter(iterable), start)


def _enumerate_steps(iterator, count):
    for item in iterator:
        yield count, item
        count += 1


def _zip(cls, *iterables, strict=False):
    return _zip_steps([iter(iterable) for iterable in iterables], strict)


def _zip_steps(iterators, strict):
    if not iterators:
        return
    while True:
        items = []
        for iterator in iterators:
            item = next(iterator, _nothing)
            if item is _nothing:
                if strict:
                    at = len(items)
                    if at > 0:
                        raise ValueError('zip() argument ' + str(at + 1) + ' is shorter than argument' + (' 1' if at == 1 else 's 1-' + str(at)))
                    index = 1
                    while index < len(iterators):
                        if next(iterators[index], _nothing) is not _nothing:
                            raise ValueError('zip() argument ' + str(index + 1) + ' is longer than argument' + (' 1' if index == 1 else 's 1-' + str(index)))
                        index += 1
                return
            items.append(item)
        yield tuple(items)


def map(function, iterable, /, *more):
    if more:
        return _map_many(function, zip(iterable, *more))
    return _map_one(function, iter(iterable))


def _map_one(function, iterator):
    for item in iterator:
        yield function(item)


def _map_many(function, rows):
    for row in rows:
        yield function(*row)


def filter(function, iterable, /):
    return _filter_steps(function, iter(iterable))


def _filter_steps(function, iterator):
    if function is None:
        for item in iterator:
            if item:
                yield item
    else:
        for item in iterator:
            if function(item):
                yield item


def _any(iterable):
    for item in iterable:
        if item:
            return True
    return False


def _all(iterable):
    for item in iterable:
        if not item:
            return False
    return True


def _sum(iterable, start=0):
    if isinstance(start, str):
        raise TypeError("sum() can't sum strings [use ''.join(seq) instead]")
    for item in iterable:
        start = start + item
    return start


def _min(*args, key=None, default=_nothing):
    return _extreme(args, key, default, False)


def _max(*args, key=None, default=_nothing):
    return _extreme(args, key, default, True)


def _extreme(args, key, default, largest):
    items = args[0] if len(args) == 1 else args
    best = _nothing
    for item in items:
        rank = item if key is None else key(item)
        if best is _nothing or (rank > best_rank if largest else rank < best_rank):
            best = item
            best_rank = rank
    if best is _nothing:
        if default is _nothing:
            raise ValueError(('max' if largest else 'min') + '() arg is an empty sequence')
        return default
    return best


def _sorted(iterable, /, *, key=None, reverse=False):
    items = [item for item in iterable]
    keys = items if key is None else [key(item) for item in items]
    return _sort_by(items, keys, reverse)


def _list_sort(items, /, *, key=None, reverse=False):
    copy = items[:]
    keys = copy if key is None else [key(item) for item in copy]
    items[:] = _sort_by(copy, keys, reverse)


def _merge_sort(items, keys, reverse):
    order = list(range(len(items)))
    if reverse:
        order.reverse()
    width = 1
    count = len(order)
    while width < count:
        merged = []
        start = 0
        while start < count:
            middle = min(start + width, count)
            end = min(start + 2 * width, count)
            left = start
            right = middle
            while left < middle and right < end:
                if keys[order[right]] < keys[order[left]]:
                    merged.append(order[right])
                    right += 1
                else:
                    merged.append(order[left])
                    left += 1
            merged += order[left:middle]
            merged += order[right:end]
            start = end
        order = merged
        width *= 2
    if reverse:
        order.reverse()
    return [items[index] for index in order]


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


def _divmod(a, b):
    method = _user_method(a, '__divmod__')
    if method is not None:
        return method(a, b)
    return (a // b, a % b)


def _compose(function, method, value):
    return function(method(value))


def _round_int(value, places):
    unit = 10 ** places
    quotient, rest = divmod(value, unit)
    if rest * 2 > unit or (rest * 2 == unit and quotient % 2 == 1):
        quotient += 1
    return quotient * unit


def dir(value=_nothing):
    names = []
    for name in _own_names(value):
        if name not in names:
            names.append(name)
    return sorted(names)


# Classes.

def _build_class(body, name, bases, keywords):
    resolved = []
    for base in bases:
        entries = _user_method(base, '__mro_entries__')
        if entries is not None:
            resolved.extend(entries(base, bases))
        else:
            resolved.append(base)
    bases = tuple(resolved)
    meta = keywords.pop('metaclass', None)
    if meta is None:
        meta = type
    for base in bases:
        kind = type(base)
        if kind is not meta and issubclass(kind, meta):
            meta = kind
    namespace = {}
    prepare = getattr(meta, '__prepare__', None)
    if prepare is not None:
        namespace = prepare(name, bases, **keywords)
    cell = _run_body(body, namespace)
    if meta is type:
        cls = _finish_class(type, name, bases, namespace, keywords, cell)
    else:
        cls = meta.__new__(meta, name, bases, namespace, **keywords)
        if cell is not None:
            _set_cell(cell, cls)
        meta.__init__(cls, name, bases, namespace, **keywords)
    return cls


def _type_new(meta, name, bases, namespace):
    return _finish_class(meta, name, bases, namespace, {}, None)


def _finish_class(meta, name, bases, namespace, keywords, cell):
    cls = _make_class(name, bases, namespace, meta)
    if cell is not None:
        _set_cell(cell, cls)
    for key, value in list(namespace.items()):
        hook = _user_method(value, '__set_name__')
        if hook is not None:
            hook(value, cls, key)
    super(cls, cls).__init_subclass__(**keywords)
    return cls


def _construct(cls, *args, **kwargs):
    new = cls.__new__
    layout = _layout(cls)
    if new is object.__new__:
        made = new(cls)
    elif new is layout.__new__ and layout is not object and layout is not type:
        if issubclass(layout, BaseException):
            made = new(cls, *args, **kwargs)
        else:
            made = _wrap(cls, layout(*args, **kwargs))
            if cls.__init__ is not object.__init__ and layout in (int, float, str, bytes, tuple, frozenset):
                cls.__init__(made, *args, **kwargs)
            return made
    else:
        made = new(cls, *args, **kwargs)
    if isinstance(made, cls):
        init = type(made).__init__
        if init is not object.__init__:
            init(made, *args, **kwargs)
    return made


def _new_of(layout):
    def new(cls, *args, **kwargs):
        value = layout(*args, **kwargs)
        return value if cls is layout else _wrap(cls, value)
    return new


def _class_getitem(cls, key):
    method = getattr(cls, '__class_getitem__', None)
    if method is not None:
        return method(key)
    if cls in (list, dict, set, tuple, frozenset, type):
        return cls
    raise TypeError("type '" + cls.__name__ + "' is not subscriptable")


def _match_keys(subject, keys, rest):
    values = []
    for key in keys:
        if key not in subject:
            return None
        values.append(subject[key])
    if rest:
        values.append({key: value for key, value in subject.items() if key not in keys})
    return values


def _match_class(subject, cls, count, names):
    if not isinstance(subject, cls):
        return None
    values = []
    if count:
        order = getattr(cls, '__match_args__', None)
        if order is None:
            if cls in (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple) and count == 1:
                values.append(subject)
                count = 0
                order = ()
            else:
                order = ()
        if count > len(order):
            raise TypeError(cls.__name__ + '() accepts ' + str(len(order)) + ' positional sub-patterns (' + str(count) + ' given)')
        index = 0
        while index < count:
            value = getattr(subject, order[index], _nothing)
            if value is _nothing:
                return None
            values.append(value)
            index += 1
    for name in names:
        value = getattr(subject, name, _nothing)
        if value is _nothing:
            return None
        values.append(value)
    return values


def _enter(function, *args):
    # Every call from outside begins in a frame, whatever it calls.
    return function(*args)


# Asynchronous iteration. The body of an asynchronous generator is a generator: what it yields comes
# wrapped, everything else that comes out of it is on its way to the host.

class _Yielded:
    def __init__(self, value):
        self.value = value


class _Relay:
    def __init__(self, value):
        self.value = value

    def __await__(self):
        return (yield self.value)


def _agen_iter(generator):
    return generator


def _agen_next(generator):
    return _agen_step(generator, None, None)


def _agen_send(generator, value):
    return _agen_step(generator, value, None)


def _agen_throw(generator, kind, value=None, traceback=None):
    if isinstance(kind, type):
        kind = kind() if value is None else value if isinstance(value, BaseException) else kind(value)
    return _agen_step(generator, None, kind)


async def _agen_step(generator, value, error):
    while True:
        try:
            if error is not None:
                out = _generator_throw(generator, error)
            else:
                out = _generator_send(generator, value)
        except StopIteration:
            raise StopAsyncIteration from None
        if type(out) is _Yielded:
            return out.value
        error = None
        try:
            value = await _Relay(out)
        except GeneratorExit:
            raise
        except BaseException as raised:
            error = raised


async def _agen_close(generator):
    try:
        await _agen_step(generator, None, GeneratorExit())
    except (StopAsyncIteration, GeneratorExit):
        return
    raise RuntimeError('async generator ignored GeneratorExit')


def _aiter(value):
    if type(value).__name__ == 'async_generator':
        return value
    method = _user_method(value, '__aiter__')
    if method is None:
        raise TypeError("'async for' requires an object with __aiter__ method, got " + type(value).__name__)
    iterator = method(value)
    if type(iterator).__name__ != 'async_generator' and _user_method(iterator, '__anext__') is None:
        raise TypeError("'async for' received an object from __aiter__ that does not implement __anext__: " + type(iterator).__name__)
    return iterator


def _anext(iterator):
    if type(iterator).__name__ == 'async_generator':
        return _agen_step(iterator, None, None)
    return _user_method(iterator, '__anext__')(iterator)


def aiter(iterable, /):
    return _aiter(iterable)


def anext(iterator, default=_nothing, /):
    if default is _nothing:
        return _anext(iterator)
    return _anext_default(iterator, default)


async def _anext_default(iterator, default):
    try:
        return await _anext(iterator)
    except StopAsyncIteration:
        return default
