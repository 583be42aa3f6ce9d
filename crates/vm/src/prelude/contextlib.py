import sys
from abc import ABC, abstractmethod
from functools import update_wrapper as _update_wrapper


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
    _update_wrapper(helper, function)
    return helper


class AbstractContextManager(ABC):
    def __enter__(self):
        return self

    @abstractmethod
    def __exit__(self, kind, value, traceback):
        return None


class AbstractAsyncContextManager(ABC):
    async def __aenter__(self):
        return self

    @abstractmethod
    async def __aexit__(self, kind, value, traceback):
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


class _Redirect:
    # The stream that it replaces comes back at the end, however it comes.
    def __init__(self, target):
        self._target = target
        self._before = []

    def __enter__(self):
        self._before.append(getattr(sys, self._stream))
        setattr(sys, self._stream, self._target)
        return self._target

    def __exit__(self, *details):
        setattr(sys, self._stream, self._before.pop())


class redirect_stdout(_Redirect):
    _stream = 'stdout'


class redirect_stderr(_Redirect):
    _stream = 'stderr'


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


class _AsyncContext:
    def __init__(self, generator):
        self.generator = generator

    async def __aenter__(self):
        try:
            return await self.generator.__anext__()
        except StopAsyncIteration:
            raise RuntimeError("generator didn't yield") from None

    async def __aexit__(self, kind, value, traceback):
        if kind is None:
            try:
                await self.generator.__anext__()
            except StopAsyncIteration:
                return False
            raise RuntimeError("generator didn't stop")
        try:
            await self.generator.athrow(value)
        except StopAsyncIteration as stop:
            return stop is not value
        except BaseException as error:
            if error is value:
                return False
            raise
        raise RuntimeError("generator didn't stop after athrow()")


def asynccontextmanager(function):
    def helper(*args, **kwargs):
        return _AsyncContext(function(*args, **kwargs))
    _update_wrapper(helper, function)
    return helper


class aclosing:
    def __init__(self, thing):
        self.thing = thing

    async def __aenter__(self):
        return self.thing

    async def __aexit__(self, *details):
        await self.thing.aclose()


class AsyncExitStack:
    def __init__(self):
        self._exits = []

    async def __aenter__(self):
        return self

    async def enter_async_context(self, manager):
        value = await manager.__aenter__()
        self._exits.append((True, manager.__aexit__))
        return value

    def enter_context(self, manager):
        value = manager.__enter__()
        self._exits.append((False, manager.__exit__))
        return value

    def callback(self, function, /, *args, **kwargs):
        def leave(*details):
            function(*args, **kwargs)
        self._exits.append((False, leave))
        return function

    def push_async_callback(self, function, /, *args, **kwargs):
        async def leave(*details):
            await function(*args, **kwargs)
        self._exits.append((True, leave))
        return function

    async def __aexit__(self, kind, value, traceback):
        given = value
        while self._exits:
            waits, leave = self._exits.pop()
            try:
                left = leave(kind, value, traceback)
                if waits:
                    left = await left
                if left:
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

    async def aclose(self):
        await self.__aexit__(None, None, None)
