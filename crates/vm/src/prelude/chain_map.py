# Tables that are looked through one after the other.

class ChainMap:
    def __class_getitem__(cls, key):
        return _GenericAlias(cls, key)

    def __init__(self, *maps):
        self.maps = list(maps) or [{}]

    def __getitem__(self, key):
        for table in self.maps:
            if key in table:
                return table[key]
        raise KeyError(key)

    def get(self, key, default=None):
        return self[key] if key in self else default

    def __contains__(self, key):
        return any([key in table for table in self.maps])

    def __setitem__(self, key, value):
        self.maps[0][key] = value

    def __delitem__(self, key):
        if key not in self.maps[0]:
            raise KeyError('Key not found in the first mapping: ' + repr(key))
        del self.maps[0][key]

    def setdefault(self, key, default=None):
        if key in self:
            return self[key]
        self[key] = default
        return default

    def update(self, other=(), /, **kwargs):
        self.maps[0].update(other, **kwargs)

    def copy(self):
        return ChainMap(self.maps[0].copy(), *self.maps[1:])

    def __or__(self, other):
        if not hasattr(other, 'keys'):
            return NotImplemented
        made = self.copy()
        made.maps[0].update(other)
        return made

    def __ror__(self, other):
        if not hasattr(other, 'keys'):
            return NotImplemented
        made = dict(other)
        for table in reversed(self.maps):
            made.update(table)
        return type(self)(made)

    def __ior__(self, other):
        self.maps[0].update(other)
        return self

    def __iter__(self):
        seen = {}
        for table in reversed(self.maps):
            for key in table:
                seen[key] = None
        return iter(seen)

    def __len__(self):
        return len(list(iter(self)))

    def keys(self):
        return list(iter(self))

    def items(self):
        return [(key, self[key]) for key in self]

    def values(self):
        return [self[key] for key in self]

    def new_child(self, table=None, **more):
        return ChainMap({**more} if table is None else table, *self.maps)

    def pop(self, key, *default):
        if not default and key not in self.maps[0]:
            raise KeyError('Key not found in the first mapping: ' + repr(key))
        return self.maps[0].pop(key, *default)

    def __bool__(self):
        return any(self.maps)

    def __eq__(self, other):
        return dict(self) == (dict(other) if isinstance(other, ChainMap) else other)

    def __repr__(self):
        return 'ChainMap(' + ', '.join([repr(table) for table in self.maps]) + ')'

    @property
    def parents(self):
        return ChainMap(*self.maps[1:])
