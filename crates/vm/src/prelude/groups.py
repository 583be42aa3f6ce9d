# Exceptions in groups.

class BaseExceptionGroup(BaseException):
    def __new__(cls, message, exceptions, /):
        if not isinstance(message, str):
            raise TypeError('argument 1 must be str, not ' + type(message).__name__)
        exceptions = tuple(exceptions)
        if not exceptions:
            raise ValueError('second argument (exceptions) must be a non-empty sequence')
        plain = True
        for place, one in enumerate(exceptions):
            if not isinstance(one, BaseException):
                raise ValueError('Item ' + str(place) + ' of second argument (exceptions) is not an exception')
            plain = plain and isinstance(one, Exception)
        if cls is BaseExceptionGroup and plain:
            cls = ExceptionGroup
        if issubclass(cls, Exception) and not plain:
            raise TypeError('Cannot nest BaseExceptions in ' + ('an ExceptionGroup' if cls is ExceptionGroup else repr(cls.__name__)))
        self = BaseException.__new__(cls, message, exceptions)
        self.message = message
        self.exceptions = exceptions
        return self

    def __init__(self, message, exceptions, /, *more):
        self.args = (message, exceptions)

    def __class_getitem__(cls, key):
        return _GenericAlias(cls, key)

    def __str__(self):
        count = len(self.exceptions)
        return self.message + ' (' + str(count) + ' sub-exception' + ('' if count == 1 else 's') + ')'

    def __repr__(self):
        return type(self).__name__ + '(' + repr(self.message) + ', ' + repr(list(self.exceptions)) + ')'

    def derive(self, exceptions):
        return BaseExceptionGroup(self.message, exceptions)

    def _derived(self, exceptions):
        if not exceptions:
            return None
        made = self.derive(exceptions)
        made.__cause__ = self.__cause__
        made.__context__ = self.__context__
        made.__suppress_context__ = self.__suppress_context__
        if hasattr(self, '__notes__'):
            made.__notes__ = list(self.__notes__)
        return made

    def split(self, condition):
        matches = condition
        if isinstance(condition, (type, tuple)):
            matches = lambda error: isinstance(error, condition)
        if matches(self):
            return self, None
        taken = []
        left = []
        for one in self.exceptions:
            if isinstance(one, BaseExceptionGroup):
                first, second = one.split(condition)
            elif matches(one):
                first, second = one, None
            else:
                first, second = None, one
            if first is not None:
                taken.append(first)
            if second is not None:
                left.append(second)
        return self._derived(taken), self._derived(left)

    def subgroup(self, condition):
        return self.split(condition)[0]


class ExceptionGroup(BaseExceptionGroup, Exception):
    pass


BaseExceptionGroup.__module__ = ExceptionGroup.__module__ = 'builtins'


def _caught_group(error, kind):
    # What `except*` takes of an exception, and what it leaves.
    if isinstance(error, BaseExceptionGroup):
        return error.split(kind)
    if isinstance(error, kind):
        group = BaseExceptionGroup('', [error])
        return group, None
    return None, error
