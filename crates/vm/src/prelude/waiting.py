# Asynchronous iteration. The body of an asynchronous generator is a generator: what it yields comes
# wrapped, everything else that comes out of it is on its way to the host.

class _Yielded:
    def __init__(self, value):
        self.value = value


class _Relay:
    def __init__(self, value):
        self.value = value

    def __await__(self):
        return (yield self.value)


def _agen_iter(generator):
    return generator


def _agen_next(generator):
    return _agen_step(generator, None, None)


def _agen_send(generator, value):
    return _agen_step(generator, value, None)


def _agen_throw(generator, kind, value=None, traceback=None):
    if isinstance(kind, type):
        kind = kind() if value is None else value if isinstance(value, BaseException) else kind(value)
    return _agen_step(generator, None, kind)


async def _agen_step(generator, value, error):
    while True:
        try:
            if error is not None:
                out = _generator_throw(generator, error)
            else:
                out = _generator_send(generator, value)
        except StopIteration:
            raise StopAsyncIteration from None
        if type(out) is _Yielded:
            return out.value
        error = None
        try:
            value = await _Relay(out)
        except GeneratorExit:
            raise
        except BaseException as raised:
            error = raised


async def _agen_close(generator):
    try:
        await _agen_step(generator, None, GeneratorExit())
    except (StopAsyncIteration, GeneratorExit):
        return
    raise RuntimeError('async generator ignored GeneratorExit')


def _aiter(value):
    if type(value).__name__ == 'async_generator':
        return value
    method = _user_method(value, '__aiter__')
    if method is None:
        raise TypeError("'async for' requires an object with __aiter__ method, got " + type(value).__name__)
    iterator = method(value)
    if type(iterator).__name__ != 'async_generator' and _user_method(iterator, '__anext__') is None:
        raise TypeError("'async for' received an object from __aiter__ that does not implement __anext__: " + type(iterator).__name__)
    return iterator


def _anext(iterator):
    if type(iterator).__name__ == 'async_generator':
        return _agen_step(iterator, None, None)
    return _user_method(iterator, '__anext__')(iterator)


def aiter(iterable, /):
    return _aiter(iterable)


def anext(iterator, default=_nothing, /):
    if default is _nothing:
        return _anext(iterator)
    return _anext_default(iterator, default)


async def _anext_default(iterator, default):
    try:
        return await _anext(iterator)
    except StopAsyncIteration:
        return default
