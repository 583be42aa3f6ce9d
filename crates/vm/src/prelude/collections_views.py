# Views of mappings that are written in Python, and who else is of which kind.

class MappingView(Sized):
    def __init__(self, mapping):
        self._mapping = mapping

    def __len__(self):
        return len(self._mapping)

    def __repr__(self):
        return type(self).__name__ + '(' + repr(self._mapping) + ')'


class KeysView(MappingView, Set):
    @classmethod
    def _from_iterable(cls, items):
        return set(items)

    def __contains__(self, key):
        return key in self._mapping

    def __iter__(self):
        yield from self._mapping


class ItemsView(MappingView, Set):
    @classmethod
    def _from_iterable(cls, items):
        return set(items)

    def __contains__(self, item):
        key, value = item
        try:
            found = self._mapping[key]
        except KeyError:
            return False
        return found is value or found == value

    def __iter__(self):
        for key in self._mapping:
            yield key, self._mapping[key]


class ValuesView(MappingView, Collection):
    def __contains__(self, value):
        for key in self._mapping:
            found = self._mapping[key]
            if found is value or found == value:
                return True
        return False

    def __iter__(self):
        for key in self._mapping:
            yield self._mapping[key]


class ByteString(Sequence):
    pass


def _register():
    import collections
    for kind in (list, bytearray, collections.deque, collections.UserList):
        MutableSequence.register(kind)
    for kind in (tuple, str, range, collections.UserString):
        Sequence.register(kind)
    for kind in (bytes, bytearray):
        ByteString.register(kind)
    for kind in (dict, collections.UserDict, collections.ChainMap):
        MutableMapping.register(kind)
    MutableSet.register(set)
    Set.register(frozenset)
    KeysView.register(type({}.keys()))
    ItemsView.register(type({}.items()))
    ValuesView.register(type({}.values()))
    Reversible.register(type({}.keys()))
    Reversible.register(type({}.items()))
    Reversible.register(type({}.values()))
    Coroutine.register(_coroutine_type)
    Callable.register(staticmethod)


async def _coroutine():
    pass


_coroutine_type = _coroutine()
_coroutine_type.close()
_coroutine_type = type(_coroutine_type)
_register()
