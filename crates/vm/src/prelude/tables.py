# Tables.

def _hash(value):
    method = _user_method(value, '__hash__')
    if method is not None:
        result = method(value)
        if not isinstance(result, int):
            raise TypeError('__hash__ method should return an integer')
        return -2 if result == -1 else result if -0x8000000000000000 <= result < 0x8000000000000000 else hash(result)
    if isinstance(value, (tuple, frozenset)):
        return _hash_of(value, [hash(item) for item in value])
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


def _dict_popitem(table, last=True):
    return dict.popitem(table, _bool(last))


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
            if not hasattr(pair, '__iter__') and not hasattr(pair, '__getitem__'):
                raise TypeError('cannot convert dictionary update sequence element #' + str(index) + ' to a sequence')
            pair = [item for item in pair]
            if len(pair) != 2:
                raise ValueError('dictionary update sequence element #' + str(index) + ' has length ' + str(len(pair)) + '; 2 is required')
            dict.__setitem__(table, pair[0], pair[1])
            index += 1
    for key in more:
        dict.__setitem__(table, key, more[key])


def _dict_new(cls, source=(), /, *rest, **more):
    if rest:
        raise TypeError('dict expected at most 1 argument, got ' + str(1 + len(rest)))
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


# Sets as CPython makes them, where natives would need a program's own methods: their order shows the way.

def _hashed(source):
    return isinstance(source, (set, frozenset)) or type(source) is dict


def _set_update(target, source):
    if _hashed(source) and source is not target:
        _set_reserve(target, source)
    for item in source:
        set.add(target, item)


def _set_update_all(target, *sources):
    for source in sources:
        if len(sources) == 1:
            _set_update(target, source)
        else:
            set.update(target, source)


def _set_ior(target, source):
    _set_update(target, source)
    return target


def _set_of(source):
    result = set()
    for item in source:
        result.add(item)
    return result


def _set_new(cls, source=()):
    return _set_of(source)


def _set_fill(target, source=()):
    _set_replace(target, set(source))


def _frozenset_new(cls, source=()):
    made = _freeze(_set_of(source))
    return made if cls is frozenset else _wrap(cls, made)


def _like(model, result):
    return _freeze(result) if isinstance(model, frozenset) else result


def _as_set(source):
    return source if isinstance(source, (set, frozenset)) else set(source)


def _set_union(first, *others):
    result = set(first)
    for other in others:
        if other is not first:
            set.update(result, other)
    return _like(first, result)


def _intersect(a, b):
    if a is b:
        return set(a)
    if isinstance(b, (set, frozenset)) and len(b) > len(a):
        a, b = b, a
    return _set_of([item for item in b if item in a])


def _set_intersection(first, *others):
    result = first
    for other in others:
        result = _intersect(result, other)
    return _like(first, result)


def _set_intersection_update(target, *others):
    _set_replace(target, _set_intersection(target, *others))


def _set_iand(target, other):
    _set_replace(target, _intersect(target, other))
    return target


def _subtract(first, other):
    if _hashed(other) and len(first) // 4 <= len(other):
        return _set_of([item for item in first if item not in other])
    result = set(first)
    _remove_all(result, other)
    return result


def _set_difference(first, *others):
    result = _subtract(first, others[0])
    for other in others[1:]:
        _remove_all(result, other)
    return _like(first, result)


def _remove_all(target, source):
    if source is target:
        target.clear()
    for item in source:
        set.discard(target, item)
    _set_tidy(target)


def _set_difference_update(target, *others):
    for other in others:
        if len(others) == 1:
            _remove_all(target, other)
        else:
            set.difference_update(target, other)


def _set_isub(target, other):
    _remove_all(target, other)
    return target


def _set_symmetric(first, other):
    result = set(other)
    _set_ixor(result, first)
    return _like(first, result)


def _set_ixor(target, other):
    if other is target:
        target.clear()
        return target
    for item in list(other):
        place = _find_key(target, item)
        if place < 0:
            _insert_hashed(target, hash(item), item, None)
        else:
            _remove_place(target, place)
    return target


def _set_symmetric_update(target, other):
    _set_ixor(target, other if _hashed(other) else set(other))


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
    if not _is_view(a):
        a, b = b, a
    if type(b) is set and len(a) <= len(b) or _is_view(b) and len(b) > len(a):
        a, b = b, a
    return _set_of([item for item in b if item in a])


def _view_or(a, b):
    result = _view_set(a)
    result.update(b)
    return result


def _view_sub(a, b):
    result = _view_set(a)
    result.difference_update(b)
    return result


def _view_xor(a, b):
    result = _view_set(a)
    result.symmetric_difference_update(b)
    return result


def _list_extend(target, source):
    for item in source:
        target.append(item)


def _list_iadd(target, source):
    for item in source:
        target.append(item)
    return target


def _set_slice(target, place, source):
    target[place] = [item for item in source]


def _iadd_list(target, source):
    list.extend(target, source)
    return target


def _imul_list(target, count):
    list.__setitem__(target, slice(None), list(target) * count)
    return target


def _ior_dict(target, source):
    dict.update(target, source)
    return target
