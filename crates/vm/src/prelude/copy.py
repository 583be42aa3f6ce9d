def copy(value):
    method = _user_method(value, '__copy__')
    if method is not None:
        return method(value)
    kind = type(value)
    if kind in (list, dict, set, bytearray):
        return kind(value)
    if isinstance(value, type) or callable(value) or _layout(kind) is not object or not hasattr(value, '__dict__'):
        if _layout(kind) in (list, dict, set):
            made = kind.__new__(kind)
            made = _wrap(kind, _layout(kind)(value))
            made.__dict__.update(value.__dict__)
            return made
        return value
    made = object.__new__(kind)
    made.__dict__.update(value.__dict__)
    return made


def deepcopy(value, memo=None):
    if value is None or isinstance(value, (int, float, str, bytes, bool, type, range)):
        return value
    if memo is None:
        memo = {}
    place = _identity(value)
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
    elif kind is set or kind is frozenset:
        made = kind([deepcopy(item, memo) for item in value])
    elif kind is bytearray:
        made = bytearray(value)
    elif _layout(kind) is object and hasattr(value, '__dict__') and not callable(value):
        made = object.__new__(kind)
        memo[place] = (made, value)
        for name, item in value.__dict__.items():
            object.__setattr__(made, name, deepcopy(item, memo))
        return made
    elif _layout(kind) in (list, dict, set):
        made = _wrap(kind, deepcopy(_layout(kind)(value), memo))
        for name, item in value.__dict__.items():
            object.__setattr__(made, name, deepcopy(item, memo))
    else:
        made = value
    memo[place] = (made, value)
    return made
