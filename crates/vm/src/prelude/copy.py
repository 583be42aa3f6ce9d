def copy(value):
    method = _user_method(value, '__copy__')
    if method is not None:
        return method(value)
    kind = type(value)
    if kind in (list, dict, set, bytearray):
        return kind(value)
    if isinstance(value, type) or _layout(kind) is not object or _own_dict(value) is None:
        if _layout(kind) in (list, dict, set):
            made = kind.__new__(kind)
            made = _wrap(kind, _layout(kind)(value))
            _own_dict(made).update(_own_dict(value))
            return made
        return value
    made = object.__new__(kind)
    _set_state(made, _state(value))
    return made


def _state(value):
    method = _user_method(value, '__getstate__')
    return _own_dict(value) if method is None else method(value)


def _set_state(made, state):
    method = _user_method(made, '__setstate__')
    if method is not None:
        method(made, state)
    elif state is not None:
        _own_dict(made).update(state)


def _all_same(made, value):
    for one, other in zip(made, value):
        if one is not other:
            return False
    return True


def deepcopy(value, memo=None):
    if value is None or isinstance(value, (int, float, str, bytes, bool, type, range)):
        return value
    if memo is None:
        memo = {}
    place = _identity(value)
    if place is None:
        return value
    if place in memo:
        return memo[place][0]
    method = _user_method(value, '__deepcopy__')
    if method is not None:
        made = method(value, memo)
        memo[place] = (made, value)
        return made
    kind = type(value)
    if kind is list:
        made = []
        memo[place] = (made, value)
        for item in value:
            made.append(deepcopy(item, memo))
        return made
    if kind is dict:
        made = {}
        memo[place] = (made, value)
        for key, item in value.items():
            made[deepcopy(key, memo)] = deepcopy(item, memo)
        return made
    if kind is tuple:
        made = tuple([deepcopy(item, memo) for item in value])
        if place in memo:
            # A list inside has it inside, and was copied on the way.
            return memo[place][0]
        if _all_same(made, value):
            made = value
    elif kind is set or kind is frozenset:
        made = kind([deepcopy(item, memo) for item in value])
    elif kind is bytearray:
        made = bytearray(value)
    elif _layout(kind) is object and _own_dict(value) is not None:
        made = object.__new__(kind)
        memo[place] = (made, value)
        _set_state(made, deepcopy(_state(value), memo))
        return made
    elif _layout(kind) in (list, dict, set):
        made = _wrap(kind, deepcopy(_layout(kind)(value), memo))
        memo[place] = (made, value)
        _own_dict(made).update(deepcopy(_own_dict(value), memo))
    elif _layout(kind) is tuple:
        made = _wrap(kind, tuple([deepcopy(item, memo) for item in value]))
    else:
        made = value
    memo[place] = (made, value)
    return made
