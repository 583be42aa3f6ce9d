class SimpleNamespace:
    def __init__(self, /, **kwargs):
        self.__dict__.update(kwargs)

    def __repr__(self):
        return 'namespace(' + ', '.join([key + '=' + repr(value) for key, value in self.__dict__.items()]) + ')'

    def __eq__(self, other):
        return isinstance(other, SimpleNamespace) and self.__dict__ == other.__dict__


def _function():
    yield None


FunctionType = type(_function)
GeneratorType = type(_function())
LambdaType = FunctionType
NoneType = type(None)
BuiltinFunctionType = type(len)
class _Bound:
    def method(self):
        pass


MethodType = type(_Bound().method)


def MappingProxyType(table):
    return dict(table)
