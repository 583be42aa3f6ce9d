# Classes.

def _build_class(body, name, bases, keywords):
    resolved = []
    stood_for = False
    written = bases
    for base in bases:
        entries = _user_method(base, '__mro_entries__')
        if entries is not None:
            resolved.extend(entries(base, bases))
            stood_for = True
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
    if stood_for:
        namespace['__orig_bases__'] = written
    if meta is type:
        cls = _finish_class(type, name, bases, namespace, keywords, cell)
    else:
        if cell is not None:
            namespace['__classcell__'] = cell
        cls = meta.__new__(meta, name, bases, namespace, **keywords)
        if cell is not None:
            _set_cell(cell, cls)
        meta.__init__(cls, name, bases, namespace, **keywords)
    return cls


def _type_new(meta, name, bases, namespace, /, **keywords):
    if meta is type:
        # The class of the class is the one of its bases that knows most.
        for base in bases:
            kind = type(base)
            if kind is not meta and issubclass(kind, meta):
                meta = kind
        if meta is not type:
            return meta.__new__(meta, name, bases, namespace, **keywords)
    cell = namespace.get('__classcell__')
    if cell is not None:
        namespace = {key: value for key, value in namespace.items() if key != '__classcell__'}
    return _finish_class(meta, name, bases, namespace, keywords, cell)


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


def _match_keys(subject, keys, rest):
    values = []
    for key in keys:
        if key not in subject:
            return None
        values.append(subject[key])
    if rest:
        values.append({key: value for key, value in subject.items() if key not in keys})
    return values


# What stands in their brackets is the whole.
_ONE_PATTERN = (bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple)


def _match_class(subject, cls, count, names):
    if not isinstance(subject, cls):
        return None
    values = []
    if count:
        order = getattr(cls, '__match_args__', None)
        if order is None:
            if cls in _ONE_PATTERN and count == 1:
                values.append(subject)
                count = 0
                order = ()
            else:
                order = ()
        if count > len(order):
            most = 1 if cls in _ONE_PATTERN else len(order)
            raise TypeError(cls.__name__ + '() accepts ' + str(most) + ' positional sub-pattern'
                            + ('' if most == 1 else 's') + ' (' + str(count) + ' given)')
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


def _enter_method(cls, function, *args):
    # A method of the actor's class: every call has an instance of its own.
    return function(cls(), *args)
