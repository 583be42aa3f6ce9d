# Waiting: for time, for one task or for several.

FIRST_COMPLETED = 'FIRST_COMPLETED'
FIRST_EXCEPTION = 'FIRST_EXCEPTION'
ALL_COMPLETED = 'ALL_COMPLETED'


class _Turn:
    # Lets the others have theirs.
    def __await__(self):
        yield None


def _set_once(future, result):
    if not future._done:
        future.set_result(result)


async def sleep(delay, result=None):
    if delay <= 0:
        await _Turn()
        return result
    loop = get_running_loop()
    future = loop.create_future()
    handle = loop.call_later(delay, _set_once, future, result)
    try:
        return await future
    finally:
        handle.cancel()


def gather(*awaitables, return_exceptions=False):
    if not awaitables:
        nothing = get_event_loop().create_future()
        nothing.set_result([])
        return nothing
    known = []
    children = []
    for one in awaitables:
        # The same one twice is one task.
        child = None
        for before, task in known:
            if before is one:
                child = task
        if child is None:
            child = ensure_future(one)
            known.append((one, child))
        children.append(child)
    outer = _Gathering(children)
    left = len(known)

    def ended(child):
        nonlocal left
        left -= 1
        if outer._done:
            return
        if not return_exceptions:
            if child._cancelled:
                outer.set_exception(CancelledError() if child._exception is None else child._exception)
                return
            if child._exception is not None:
                outer.set_exception(child._exception)
                return
        if left == 0:
            if outer._asked:
                outer.set_exception(CancelledError())
                return
            outer.set_result([one._result if one._exception is None and not one._cancelled
                              else CancelledError() if one._exception is None else one._exception for one in children])
    for _, child in known:
        child.add_done_callback(ended)
    return outer


class _Gathering(Future):
    def __init__(self, children):
        super().__init__(loop=children[0]._loop)
        self._children = children
        self._asked = False

    def cancel(self, msg=None):
        if self._done:
            return False
        told = False
        for child in self._children:
            if child.cancel(msg):
                told = True
        if told:
            self._asked = True
        return told


async def wait(awaitables, *, timeout=None, return_when=ALL_COMPLETED):
    tasks = list(awaitables)
    if not tasks:
        raise ValueError('Set of Tasks/Futures is empty.')
    for one in tasks:
        if iscoroutine(one):
            raise TypeError('Passing coroutines is forbidden, use tasks explicitly.')
    loop = get_running_loop()
    waiter = loop.create_future()
    timer = None if timeout is None else loop.call_later(timeout, _set_once, waiter, None)

    def enough():
        ended = [one for one in tasks if one._done]
        if return_when == FIRST_COMPLETED:
            return len(ended) > 0
        if return_when == FIRST_EXCEPTION and [one for one in ended if not one._cancelled and one._exception is not None]:
            return True
        return len(ended) == len(tasks)

    def ended(task):
        if enough():
            _set_once(waiter, None)
    if not enough():
        for one in tasks:
            one.add_done_callback(ended)
        try:
            await waiter
        finally:
            for one in tasks:
                one.remove_done_callback(ended)
            if timer is not None:
                timer.cancel()
    return {one for one in tasks if one._done}, {one for one in tasks if not one._done}


async def wait_for(awaitable, timeout):
    if timeout is None:
        return await awaitable
    task = ensure_future(awaitable)
    if timeout <= 0:
        if task._done:
            return task.result()
        await _told_to_stop(task)
        try:
            return task.result()
        except CancelledError as error:
            raise TimeoutError() from error
    loop = get_running_loop()
    waiter = loop.create_future()
    timer = loop.call_later(timeout, _set_once, waiter, None)

    def ended(task):
        _set_once(waiter, None)
    task.add_done_callback(ended)
    try:
        try:
            await waiter
        except CancelledError:
            if task._done:
                return task.result()
            task.remove_done_callback(ended)
            await _told_to_stop(task)
            raise
        if task._done:
            return task.result()
        task.remove_done_callback(ended)
        await _told_to_stop(task)
        try:
            return task.result()
        except CancelledError as error:
            raise TimeoutError() from error
    finally:
        timer.cancel()


async def _told_to_stop(task):
    loop = get_running_loop()
    waiter = loop.create_future()

    def ended(task):
        _set_once(waiter, None)
    task.add_done_callback(ended)
    task.cancel()
    try:
        await waiter
    finally:
        task.remove_done_callback(ended)


def shield(awaitable):
    inner = ensure_future(awaitable)
    if inner._done:
        return inner
    outer = inner._loop.create_future()

    def ended(task):
        if outer._done:
            return
        if task._cancelled:
            outer.cancel()
        elif task._exception is not None:
            outer.set_exception(task._exception)
        else:
            outer.set_result(task._result)
    inner.add_done_callback(ended)
    return outer


def as_completed(awaitables, *, timeout=None):
    loop = get_event_loop()
    ready = Queue()
    tasks = [ensure_future(one, loop=loop) for one in awaitables]
    left = list(tasks)

    def ended(task):
        if task in left:
            left.remove(task)
            ready.put_nowait(task)

    def late():
        for task in left:
            task.remove_done_callback(ended)
            ready.put_nowait(None)
        left.clear()

    async def next_one():
        task = await ready.get()
        if task is None:
            raise TimeoutError
        return task.result()
    for task in tasks:
        task.add_done_callback(ended)
    if timeout is not None and tasks:
        loop.call_later(timeout, late)
    for _ in tasks:
        yield next_one()


async def to_thread(function, /, *args, **kwargs):
    return function(*args, **kwargs)


class timeout:
    def __init__(self, delay):
        self._delay = delay
        self._when = None
        self._timer = None
        self._expired = False

    def when(self):
        return self._when

    def expired(self):
        return self._expired

    def reschedule(self, when):
        if self._timer is not None:
            self._timer.cancel()
        self._when = when
        self._timer = None if when is None else get_running_loop().call_at(when, self._late)

    def _late(self):
        self._expired = True
        self._task.cancel()

    async def __aenter__(self):
        self._task = current_task()
        self._cancels = self._task.cancelling()
        loop = get_running_loop()
        if self._when is None and self._delay is not None:
            self._when = loop.time() + self._delay
        self.reschedule(self._when)
        return self

    async def __aexit__(self, kind, value, traceback):
        if self._timer is not None:
            self._timer.cancel()
        if self._expired and self._task.uncancel() <= self._cancels and kind is CancelledError:
            raise TimeoutError from value
        return None


def timeout_at(when):
    made = timeout(None)
    made._when = when
    return made


class TaskGroup:
    def __init__(self):
        self._tasks = []
        self._errors = []
        self._stopping = False
        self._waiter = None

    async def __aenter__(self):
        self._loop = get_running_loop()
        self._parent = current_task()
        self._told = False
        return self

    def create_task(self, coro, *, name=None, context=None):
        if self._stopping and not self._tasks:
            raise RuntimeError('TaskGroup ' + repr(self) + ' is finished')
        if self._stopping:
            raise RuntimeError('TaskGroup ' + repr(self) + ' is shutting down')
        task = self._loop.create_task(coro, name=name)
        task.add_done_callback(self._ended)
        self._tasks.append(task)
        return task

    def _stop(self):
        self._stopping = True
        for task in self._tasks:
            if not task._done:
                task.cancel()

    def _ended(self, task):
        self._tasks.remove(task)
        if self._waiter is not None and not self._tasks:
            _set_once(self._waiter, None)
        if task._cancelled or task._exception is None:
            return
        self._errors.append(task._exception)
        if not self._stopping:
            self._stop()
            if self._waiter is None and not self._parent._done:
                # The block itself is at work: it ends, too.
                self._told = True
                self._parent.cancel()

    async def __aexit__(self, kind, value, traceback):
        cancelled = value if kind is CancelledError else None
        if self._told and self._parent.uncancel() == 0:
            cancelled = None
        if kind is not None and not self._stopping:
            self._stop()
        while self._tasks:
            self._waiter = self._loop.create_future()
            try:
                await self._waiter
            except CancelledError as error:
                if not self._stopping:
                    cancelled = error
                    self._stop()
            self._waiter = None
        self._stopping = True
        if cancelled is not None and not self._errors:
            raise cancelled
        if kind is not None and kind is not CancelledError:
            self._errors.append(value)
        if self._errors:
            raise BaseExceptionGroup('unhandled errors in a TaskGroup', self._errors)
