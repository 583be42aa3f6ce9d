# What exceptions know about themselves.
import functools


def caught(action):
    try:
        action()
    except Exception as error:
        return error


class Plain(Exception):
    pass


class Thing:
    pass


print(caught(lambda: nowhere).name, caught(lambda: Thing().colour).name, caught(lambda: Thing.shape).name, NameError('x').name)
missing = ImportError('no luck', name='luck', path='/lucky')
print(missing.name, missing.path, missing.msg, missing, missing.args)
print(SyntaxError('line 3').msg, AttributeError('a', name='b', obj=5).name, NameError('q', name='r').name)
try:
    from functools import nothing_like_this
except ImportError as error:
    print(type(error).__name__, error.name)
try:
    import no_such_module_anywhere
except ImportError as error:
    print(type(error).__name__, error.name, error.msg)
for action in [lambda: Plain(code=1), lambda: ValueError('a', b=2), lambda: KeyError(name='x'), lambda: ImportError('a', nam='x')]:
    error = caught(action)
    print(type(error).__name__, error if 'ImportError' not in str(error) else '')


class Coded(Exception):
    def __init__(self, message, *, code=0):
        super().__init__(message)
        self.code = code


print(Coded('bad', code=7).code, Coded('bad').args, hasattr(Coded('x'), 'name'), hasattr(ValueError(), 'msg'))


def traced(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        return function(*args, **kwargs)
    return inner


@traced
def sized(width, height):
    """Of a box."""
    return width * height


print(sized.__name__, sized.__doc__, sized.__annotations__, sized(2, 3))
