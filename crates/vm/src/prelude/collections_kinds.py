# What objects can do: kinds that are known by their methods.
from abc import ABCMeta, abstractmethod


class _Kind(_Subscripted, metaclass=ABCMeta):
    # Those with a `_protocol` are known by what they can do, the others by what they are built on.
    pass


class Iterable(_Kind):
    _protocol = ('__iter__',)

    @abstractmethod
    def __iter__(self):
        while False:
            yield None


class Iterator(Iterable):
    _protocol = ('__iter__', '__next__')

    @abstractmethod
    def __next__(self):
        raise StopIteration

    def __iter__(self):
        return self


class Generator(Iterator):
    _protocol = ('__iter__', '__next__', 'send', 'throw', 'close')

    def __next__(self):
        return self.send(None)

    @abstractmethod
    def send(self, value):
        raise StopIteration

    @abstractmethod
    def throw(self, kind, value=None, traceback=None):
        raise kind if value is None else value

    def close(self):
        try:
            self.throw(GeneratorExit)
        except (GeneratorExit, StopIteration):
            return
        raise RuntimeError('generator ignored GeneratorExit')


class Awaitable(_Kind):
    _protocol = ('__await__',)

    @abstractmethod
    def __await__(self):
        yield


class Coroutine(Awaitable):
    _protocol = ('__await__', 'send', 'throw', 'close')

    @abstractmethod
    def send(self, value):
        raise StopIteration

    @abstractmethod
    def throw(self, kind, value=None, traceback=None):
        raise kind if value is None else value

    def close(self):
        try:
            self.throw(GeneratorExit)
        except (GeneratorExit, StopIteration):
            return
        raise RuntimeError('coroutine ignored GeneratorExit')


class AsyncIterable(_Kind):
    _protocol = ('__aiter__',)

    @abstractmethod
    def __aiter__(self):
        return self


class AsyncIterator(AsyncIterable):
    _protocol = ('__aiter__', '__anext__')

    @abstractmethod
    async def __anext__(self):
        raise StopAsyncIteration

    def __aiter__(self):
        return self


class AsyncGenerator(AsyncIterator):
    _protocol = ('__aiter__', '__anext__', 'asend', 'athrow', 'aclose')


class Reversible(Iterable):
    _protocol = ('__iter__', '__reversed__')

    @abstractmethod
    def __reversed__(self):
        while False:
            yield None


class Sized(_Kind):
    _protocol = ('__len__',)

    @abstractmethod
    def __len__(self):
        return 0


class Container(_Kind):
    _protocol = ('__contains__',)

    @abstractmethod
    def __contains__(self, item):
        return False


class Collection(Sized, Iterable, Container):
    _protocol = ('__len__', '__iter__', '__contains__')


class Callable(_Kind):
    _protocol = ('__call__',)

    @abstractmethod
    def __call__(self, *args, **kwargs):
        return False


class Hashable(_Kind):
    _protocol = ('__hash__',)

    @abstractmethod
    def __hash__(self):
        return 0
