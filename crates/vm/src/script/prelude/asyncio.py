# Tasks of one program, side by side. There is no clock: when all of them wait, time goes on to where the
# next sleep ends. So what sleeps wakes in the order of its delays, at once, and the same way every time.
from collections import deque as _deque
from heapq import heappop as _heappop, heappush as _heappush

TimeoutError = TimeoutError


class CancelledError(BaseException):
    pass


class InvalidStateError(Exception):
    pass


class _Handle:
    def __init__(self, callback, args, when=None):
        self._callback = callback
        self._args = args
        self._when = when
        self._cancelled = False

    def cancel(self):
        self._cancelled = True

    def cancelled(self):
        return self._cancelled

    def when(self):
        return self._when


class _Loop:
    def __init__(self):
        self._ready = _deque()
        self._timers = []
        self._count = 0
        self._now = 0.0
        self._tasks = []
        self._named = 0
        self._current = None
        self._closed = False

    def time(self):
        return self._now

    def call_soon(self, callback, *args, context=None):
        handle = _Handle(callback, args)
        self._ready.append(handle)
        return handle

    call_soon_threadsafe = call_soon

    def call_later(self, delay, callback, *args, context=None):
        return self.call_at(self._now + delay, callback, *args)

    def call_at(self, when, callback, *args, context=None):
        handle = _Handle(callback, args, when)
        self._count += 1
        _heappush(self._timers, (when, self._count, handle))
        return handle

    def create_future(self):
        return Future(loop=self)

    def create_task(self, coro, *, name=None, context=None):
        return Task(coro, loop=self, name=name)

    async def run_in_executor(self, executor, function, *args):
        return function(*args)

    def is_running(self):
        return _running and _running[-1] is self

    def is_closed(self):
        return self._closed

    def close(self):
        self._closed = True

    def _round(self):
        # What is ready now; what that makes ready has its turn in the next round.
        timers = self._timers
        if not self._ready:
            while timers and timers[0][2]._cancelled:
                _heappop(timers)
            if not timers:
                raise RuntimeError('all tasks wait, and nothing is left that could wake one')
            self._now = max(self._now, timers[0][0])
        while timers and timers[0][0] <= self._now:
            self._ready.append(_heappop(timers)[2])
        for _ in range(len(self._ready)):
            handle = self._ready.popleft()
            if not handle._cancelled:
                handle._callback(*handle._args)

    def run_until_complete(self, future):
        if self._closed:
            raise RuntimeError('Event loop is closed')
        if _running:
            raise RuntimeError('This event loop is already running' if _running[-1] is self
                               else 'Cannot run the event loop while another loop is running')
        future = ensure_future(future, loop=self)
        _running.append(self)
        try:
            while not future._done:
                self._round()
        finally:
            _running.pop()
        return future.result()


# The loop that is at work, and the one that was made for later.
_running = []
_made = []


def get_running_loop():
    if not _running:
        raise RuntimeError('no running event loop')
    return _running[-1]


def new_event_loop():
    return _Loop()


def set_event_loop(loop):
    _made[:] = [] if loop is None else [loop]


def get_event_loop():
    if _running:
        return _running[-1]
    if not _made:
        _made.append(_Loop())
    return _made[0]


class Future:
    def __init__(self, *, loop=None):
        self._loop = get_event_loop() if loop is None else loop
        self._done = False
        self._cancelled = False
        self._result = None
        self._exception = None
        self._callbacks = []

    def get_loop(self):
        return self._loop

    def done(self):
        return self._done

    def cancelled(self):
        return self._cancelled

    def result(self):
        if self._cancelled:
            raise CancelledError() if self._exception is None else self._exception
        if not self._done:
            raise InvalidStateError('Result is not set.')
        if self._exception is not None:
            raise self._exception
        return self._result

    def exception(self):
        if self._cancelled:
            raise CancelledError() if self._exception is None else self._exception
        if not self._done:
            raise InvalidStateError('Exception is not set.')
        return self._exception

    def add_done_callback(self, callback, *, context=None):
        if self._done:
            self._loop.call_soon(callback, self)
        else:
            self._callbacks.append(callback)

    def remove_done_callback(self, callback):
        before = len(self._callbacks)
        self._callbacks = [one for one in self._callbacks if one != callback]
        return before - len(self._callbacks)

    def _finish(self):
        self._done = True
        for callback in self._callbacks:
            self._loop.call_soon(callback, self)
        self._callbacks = []

    def set_result(self, result):
        if self._done:
            raise InvalidStateError('invalid state')
        self._result = result
        self._finish()

    def set_exception(self, exception):
        if self._done:
            raise InvalidStateError('invalid state')
        self._exception = exception() if isinstance(exception, type) else exception
        self._finish()

    def cancel(self, msg=None):
        if self._done:
            return False
        self._cancelled = True
        self._exception = CancelledError() if msg is None else CancelledError(msg)
        self._finish()
        return True

    def __await__(self):
        if not self._done:
            yield self
        return self.result()

    __iter__ = __await__


class Task(Future):
    def __init__(self, coro, *, loop=None, name=None, context=None):
        if not iscoroutine(coro):
            raise TypeError('a coroutine was expected, got ' + repr(coro))
        super().__init__(loop=loop)
        loop = self._loop
        loop._named += 1
        self._name = 'Task-' + str(loop._named) if name is None else str(name)
        self._coro = coro
        self._waits_for = None
        self._must_cancel = False
        self._message = None
        self._cancels = 0
        loop._tasks.append(self)
        loop.call_soon(self._step)

    def get_name(self):
        return self._name

    def set_name(self, name):
        self._name = str(name)

    def get_coro(self):
        return self._coro

    def set_result(self, result):
        raise RuntimeError('Task does not support set_result operation')

    def set_exception(self, exception):
        raise RuntimeError('Task does not support set_exception operation')

    def cancelling(self):
        return self._cancels

    def uncancel(self):
        if self._cancels > 0:
            self._cancels -= 1
        return self._cancels

    def cancel(self, msg=None):
        if self._done:
            return False
        self._cancels += 1
        if self._waits_for is not None and self._waits_for.cancel(msg):
            return True
        self._must_cancel = True
        self._message = msg
        return True

    def _end(self):
        self._loop._tasks.remove(self)
        self._finish()

    def _step(self, error=None):
        if self._done:
            return
        if self._must_cancel:
            if not isinstance(error, CancelledError):
                error = CancelledError() if self._message is None else CancelledError(self._message)
            self._must_cancel = False
        self._waits_for = None
        loop = self._loop
        before, loop._current = loop._current, self
        try:
            asked = self._coro.send(None) if error is None else self._coro.throw(error)
        except StopIteration as stop:
            if self._must_cancel:
                self._must_cancel = False
                super().cancel(self._message)
                loop._tasks.remove(self)
            else:
                self._result = stop.value
                self._end()
        except CancelledError as stop:
            self._cancelled = True
            self._exception = stop
            self._end()
        except (KeyboardInterrupt, SystemExit) as stop:
            self._exception = stop
            self._end()
            raise
        except BaseException as stop:
            self._exception = stop
            self._end()
        else:
            if asked is None:
                loop.call_soon(self._step)
            elif isinstance(asked, Future):
                asked.add_done_callback(self._wake)
                self._waits_for = asked
                if self._must_cancel and asked.cancel(self._message):
                    self._must_cancel = False
            else:
                loop.call_soon(self._step, RuntimeError('Task got bad yield: ' + repr(asked)))
        finally:
            loop._current = before

    def _wake(self, future):
        if future._cancelled or future._exception is not None:
            self._step(CancelledError() if future._exception is None else future._exception)
        else:
            self._step()


def iscoroutine(value):
    return type(value).__name__ in ('coroutine', 'generator') or hasattr(type(value), 'send') and hasattr(type(value), '__await__')


def iscoroutinefunction(function):
    return _is_async(function)


def isfuture(value):
    return isinstance(value, Future)


def ensure_future(value, *, loop=None):
    if isinstance(value, Future):
        return value
    if not iscoroutine(value):
        if not hasattr(type(value), '__await__'):
            raise TypeError('An asyncio.Future, a coroutine or an awaitable is required')
        value = _awaited(value)
    return (get_event_loop() if loop is None else loop).create_task(value)


async def _awaited(value):
    return await value


def create_task(coro, *, name=None, context=None):
    return get_running_loop().create_task(coro, name=name)


def current_task(loop=None):
    return (get_running_loop() if loop is None else loop)._current


def all_tasks(loop=None):
    return set((get_running_loop() if loop is None else loop)._tasks)


def run(main, *, debug=None):
    if _running:
        raise RuntimeError('asyncio.run() cannot be called from a running event loop')
    if not iscoroutine(main):
        raise ValueError('a coroutine was expected, got ' + repr(main))
    loop = _Loop()
    try:
        return loop.run_until_complete(main)
    finally:
        # Whoever is still at work is told to stop, and may tidy up.
        left = list(loop._tasks)
        for task in left:
            task.cancel()
        if left:
            loop.run_until_complete(_all_ended(left))
        loop.close()


async def _all_ended(tasks):
    await gather(*tasks, return_exceptions=True)
