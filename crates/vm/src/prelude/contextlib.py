class _Context:
    def __init__(self, generator, make):
        self.generator = generator
        self.make = make

    def __enter__(self):
        try:
            return next(self.generator)
        except StopIteration:
            raise RuntimeError("generator didn't yield") from None

    def __exit__(self, kind, value, traceback):
        if kind is None:
            try:
                next(self.generator)
            except StopIteration:
                return False
            raise RuntimeError("generator didn't stop")
        try:
            self.generator.throw(value)
        except StopIteration as stop:
            return stop is not value
        except BaseException as error:
            if error is value:
                return False
            raise
        raise RuntimeError("generator didn't stop after throw()")


    def __call__(self, function):
        # As a decorator: every call of the function has a context of its own.
        def inner(*args, **kwargs):
            with self._again():
                return function(*args, **kwargs)
        inner.__name__ = function.__name__
        inner.__wrapped__ = function
        return inner

    def _again(self):
        return _Context(self.make(), self.make)


def contextmanager(function):
    def helper(*args, **kwargs):
        make = lambda: function(*args, **kwargs)
        return _Context(make(), make)
    helper.__name__ = function.__name__
    helper.__wrapped__ = function
    return helper


class AbstractContextManager:
    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        return None


class ContextDecorator:
    def _recreate_cm(self):
        return self

    def __call__(self, function):
        def inner(*args, **kwargs):
            with self._recreate_cm():
                return function(*args, **kwargs)
        inner.__name__ = function.__name__
        inner.__wrapped__ = function
        return inner


class suppress:
    def __init__(self, *kinds):
        self.kinds = kinds

    def __enter__(self):
        return None

    def __exit__(self, kind, value, traceback):
        return kind is not None and issubclass(kind, self.kinds)


class closing:
    def __init__(self, thing):
        self.thing = thing

    def __enter__(self):
        return self.thing

    def __exit__(self, *details):
        self.thing.close()


class nullcontext:
    def __init__(self, enter_result=None):
        self.enter_result = enter_result

    def __enter__(self):
        return self.enter_result

    def __exit__(self, *details):
        pass


class ExitStack:
    def __init__(self):
        self._exits = []

    def __enter__(self):
        return self

    def enter_context(self, manager):
        value = manager.__enter__()
        self._exits.append(manager.__exit__)
        return value

    def callback(self, function, /, *args, **kwargs):
        def leave(*details):
            function(*args, **kwargs)
        self._exits.append(leave)
        return function

    def push(self, leave):
        self._exits.append(leave.__exit__ if hasattr(leave, '__exit__') else leave)
        return leave

    def pop_all(self):
        other = type(self)()
        other._exits = self._exits
        self._exits = []
        return other

    def __exit__(self, kind, value, traceback):
        given = value
        while self._exits:
            leave = self._exits.pop()
            try:
                if leave(kind, value, traceback):
                    kind = value = traceback = None
            except BaseException as error:
                if error is not value and error.__context__ is None:
                    error.__context__ = value
                kind, value = type(error), error
        if value is None:
            return given is not None
        if value is given:
            return False
        raise value

    def close(self):
        self.__exit__(None, None, None)
