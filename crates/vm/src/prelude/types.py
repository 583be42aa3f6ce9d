class SimpleNamespace:
    def __init__(self, /, **kwargs):
        self.__dict__.update(kwargs)

    def __repr__(self):
        if _showing(self):
            return 'namespace(...)'
        return 'namespace(' + ', '.join([key + '=' + repr(value) for key, value in self.__dict__.items()]) + ')'

    def __eq__(self, other):
        return isinstance(other, SimpleNamespace) and self.__dict__ == other.__dict__


def _function():
    yield None


FunctionType = type(_function)
GeneratorType = type(_function())
LambdaType = FunctionType
GenericAlias = _GenericAlias
UnionType = _UnionType
NoneType = type(None)
BuiltinFunctionType = type(len)
class _Bound:
    def method(self):
        pass


MethodType = type(_Bound().method)


class MappingProxyType:
    # A table that can be read.
    def __init__(self, mapping):
        self._table = mapping

    def __getitem__(self, key):
        return self._table[key]

    def __contains__(self, key):
        return key in self._table

    def __iter__(self):
        return iter(self._table)

    def __reversed__(self):
        return reversed(self._table)

    def __len__(self):
        return len(self._table)

    def get(self, key, default=None):
        return self._table.get(key, default)

    def keys(self):
        return self._table.keys()

    def values(self):
        return self._table.values()

    def items(self):
        return self._table.items()

    def copy(self):
        return self._table.copy()

    def __or__(self, other):
        return self._table | (other._table if isinstance(other, MappingProxyType) else other)

    def __ror__(self, other):
        return other | self._table

    def __eq__(self, other):
        return self._table == (other._table if isinstance(other, MappingProxyType) else other)

    __hash__ = None

    def __str__(self):
        return str(self._table)

    def __repr__(self):
        return 'mappingproxy(' + repr(self._table) + ')'

    def __class_getitem__(cls, key):
        return _GenericAlias(cls, key)


MappingProxyType.__name__ = MappingProxyType.__qualname__ = 'mappingproxy'
