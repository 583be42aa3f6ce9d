class AppError(Exception):
    code = 1

    def __init__(self, message, **details):
        super().__init__(message)
        self.details = details


class NotFound(AppError):
    code = 404

    def __str__(self):
        return f'{self.args[0]} not found'


def raiser(kind, *args, **kwargs):
    raise kind(*args, **kwargs)


def chain():
    try:
        try:
            raiser(KeyError, 'inner')
        except KeyError as error:
            raise NotFound('thing', key=1) from error
    except AppError as error:
        return error


error = chain()
print(error, error.args, error.details, error.code, repr(error.__cause__), error.__context__ is error.__cause__, error.__suppress_context__)


def order():
    steps = []
    try:
        steps.append('try')
        try:
            steps.append('inner')
            raise ValueError(1)
        except KeyError:
            steps.append('wrong')
        finally:
            steps.append('inner finally')
    except (TypeError, ValueError) as error:
        steps.append(repr(error))
    else:
        steps.append('else')
    finally:
        steps.append('finally')
    return steps


print(order())


def returns():
    try:
        return 'try'
    finally:
        print('runs')


def overrides():
    for i in range(3):
        try:
            continue
        finally:
            if i == 1:
                return i


def loop():
    out = []
    while True:
        try:
            out.append(len(out))
            if len(out) == 2:
                continue
            if len(out) > 4:
                break
        finally:
            out.append('f')
    return out


print(returns(), overrides(), loop())
for function in (lambda: [][0], lambda: {}['k'], lambda: 1 / 0, lambda: int('x'), lambda: None.x, lambda: 'a' + 1, lambda: undefined, lambda: (1, 2)[5], lambda: [].remove(1), lambda: next(iter([])), lambda: 'abc'.index('z'), lambda: float('q'), lambda: chr(-1), lambda: raiser(NotFound, 'x'), lambda: len(5), lambda: [1, 2](0), lambda: {[]: 1}, lambda: int([]), lambda: sum(['a']), lambda: dict([1]), lambda: 'x' * 'y', lambda: max([]), lambda: '%d' % 'x', lambda: open_nothing()):
    try:
        function()
    except Exception as error:
        print(type(error).__name__, '|', error, '|', isinstance(error, (LookupError, ArithmeticError)))
e = ValueError('a', 'b')
print(e, e.args, ValueError(), repr(ValueError('x')), ValueError('x') == ValueError('x'), str(KeyError('k')), issubclass(IndexError, LookupError))
try:
    try:
        raise ValueError('first')
    except ValueError:
        raise TypeError('second')
except TypeError as error:
    print(error.__context__, error.__cause__)
try:
    raise StopIteration(5)
except StopIteration as stop:
    print(stop.value)
try:
    e = None
    raise AppError('gone')
except AppError as e:
    pass
try:
    e
except NameError as error:
    print(error)


def reraise():
    try:
        raise OSError('disk')
    except OSError as error:
        error.add_note('while saving')
        raise


try:
    reraise()
except OSError as error:
    print(error, error.__notes__)
try:
    assert [] , 'empty'
except AssertionError as error:
    print(error)


class Resource:
    def __init__(self, log, name, swallow=False):
        self.log, self.name, self.swallow = log, name, swallow

    def __enter__(self):
        self.log.append('+' + self.name)
        return self

    def __exit__(self, kind, value, trace):
        self.log.append(f'-{self.name}:{kind and kind.__name__}')
        return self.swallow


log = []
with Resource(log, 'a'), Resource(log, 'b', True) as b:
    raise KeyError(b.name)
with Resource(log, 'c'):
    pass
print(log)
