class _Context:
    def __init__(self, generator):
        self.generator = generator

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


def contextmanager(function):
    def helper(*args, **kwargs):
        return _Context(function(*args, **kwargs))
    helper.__name__ = function.__name__
    return helper


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
        self._exits.append(leave)

    def __exit__(self, kind, value, traceback):
        handled = False
        while self._exits:
            leave = self._exits.pop()
            if leave(kind, value, traceback):
                handled = True
                kind = value = None
        return handled

    def close(self):
        self.__exit__(None, None, None)
