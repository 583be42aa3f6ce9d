# What tasks meet at: locks, events, queues.

class _Waiting:
    def __init__(self):
        self._waiters = _deque()

    async def _wait(self):
        waiter = get_running_loop().create_future()
        self._waiters.append(waiter)
        try:
            await waiter
        finally:
            if waiter in self._waiters:
                self._waiters.remove(waiter)

    def _wake_next(self):
        for waiter in self._waiters:
            if not waiter._done:
                waiter.set_result(True)
                return


class _Held:
    async def __aenter__(self):
        await self.acquire()
        return None

    async def __aexit__(self, kind, value, traceback):
        self.release()


class Lock(_Waiting, _Held):
    def __init__(self):
        super().__init__()
        self._locked = False

    def locked(self):
        return self._locked

    async def acquire(self):
        if not self._locked and not [one for one in self._waiters if not one._cancelled]:
            self._locked = True
            return True
        try:
            await self._wait()
        except CancelledError:
            if not self._locked:
                self._wake_next()
            raise
        self._locked = True
        return True

    def release(self):
        if not self._locked:
            raise RuntimeError('Lock is not acquired.')
        self._locked = False
        self._wake_next()


class Event(_Waiting):
    def __init__(self):
        super().__init__()
        self._set = False

    def is_set(self):
        return self._set

    def set(self):
        if not self._set:
            self._set = True
            for waiter in self._waiters:
                _set_once(waiter, True)

    def clear(self):
        self._set = False

    async def wait(self):
        if not self._set:
            await self._wait()
        return True


class Condition(_Held):
    def __init__(self, lock=None):
        self._lock = Lock() if lock is None else lock
        self._waiters = _deque()
        self.locked = self._lock.locked
        self.acquire = self._lock.acquire
        self.release = self._lock.release

    async def wait(self):
        if not self.locked():
            raise RuntimeError('cannot wait on un-acquired lock')
        self.release()
        waiter = get_running_loop().create_future()
        self._waiters.append(waiter)
        try:
            try:
                await waiter
            finally:
                self._waiters.remove(waiter)
            return True
        finally:
            await self.acquire()

    async def wait_for(self, predicate):
        result = predicate()
        while not result:
            await self.wait()
            result = predicate()
        return result

    def notify(self, n=1):
        if not self.locked():
            raise RuntimeError('cannot notify on un-acquired lock')
        for waiter in self._waiters:
            if n <= 0:
                break
            if not waiter._done:
                n -= 1
                waiter.set_result(False)

    def notify_all(self):
        self.notify(len(self._waiters))


class Semaphore(_Waiting, _Held):
    def __init__(self, value=1):
        if value < 0:
            raise ValueError('Semaphore initial value must be >= 0')
        super().__init__()
        self._value = value

    def locked(self):
        return self._value == 0 or len([one for one in self._waiters if not one._cancelled]) > 0

    async def acquire(self):
        if not self.locked():
            self._value -= 1
            return True
        waiter = get_running_loop().create_future()
        self._waiters.append(waiter)
        try:
            try:
                await waiter
            finally:
                self._waiters.remove(waiter)
        except CancelledError:
            if not waiter._cancelled:
                self._value += 1
                self._wake()
            raise
        if self._value > 0:
            self._wake()
        return True

    def release(self):
        self._value += 1
        self._wake()

    def _wake(self):
        # Whoever is woken has the place already.
        for waiter in self._waiters:
            if not waiter._done:
                self._value -= 1
                waiter.set_result(True)
                return


class BoundedSemaphore(Semaphore):
    def __init__(self, value=1):
        super().__init__(value)
        self._bound = value

    def release(self):
        if self._value >= self._bound:
            raise ValueError('BoundedSemaphore released too many times')
        super().release()


class Barrier:
    def __init__(self, parties):
        self.parties = parties
        self.n_waiting = 0
        self.broken = False
        self._open = Event()

    async def wait(self):
        place = self.n_waiting
        self.n_waiting += 1
        if self.n_waiting == self.parties:
            now, self._open = self._open, Event()
            self.n_waiting = 0
            now.set()
        else:
            await self._open.wait()
        return place

    async def __aenter__(self):
        return await self.wait()

    async def __aexit__(self, *details):
        pass


class QueueEmpty(Exception):
    pass


class QueueFull(Exception):
    pass


class Queue:
    def __class_getitem__(cls, key):
        return cls

    def __init__(self, maxsize=0):
        self._maxsize = maxsize
        self._getters = _deque()
        self._putters = _deque()
        self._unfinished = 0
        self._finished = Event()
        self._finished.set()
        self._init()

    def _init(self):
        self._queue = _deque()

    def _put(self, item):
        self._queue.append(item)

    def _get(self):
        return self._queue.popleft()

    @property
    def maxsize(self):
        return self._maxsize

    def qsize(self):
        return len(self._queue)

    def empty(self):
        return len(self._queue) == 0

    def full(self):
        return 0 < self._maxsize <= len(self._queue)

    def _wake(self, waiters):
        while waiters:
            waiter = waiters.popleft()
            if not waiter._done:
                waiter.set_result(None)
                return

    async def _wait(self, waiters, useless):
        waiter = get_running_loop().create_future()
        waiters.append(waiter)
        try:
            await waiter
        except BaseException:
            waiter.cancel()
            if waiter in waiters:
                waiters.remove(waiter)
            if not useless() and not waiter._cancelled:
                self._wake(waiters)
            raise

    async def put(self, item):
        while self.full():
            await self._wait(self._putters, self.full)
        self.put_nowait(item)

    def put_nowait(self, item):
        if self.full():
            raise QueueFull
        self._put(item)
        self._unfinished += 1
        self._finished.clear()
        self._wake(self._getters)

    async def get(self):
        while self.empty():
            await self._wait(self._getters, self.empty)
        return self.get_nowait()

    def get_nowait(self):
        if self.empty():
            raise QueueEmpty
        item = self._get()
        self._wake(self._putters)
        return item

    def task_done(self):
        if self._unfinished <= 0:
            raise ValueError('task_done() called too many times')
        self._unfinished -= 1
        if self._unfinished == 0:
            self._finished.set()

    async def join(self):
        if self._unfinished > 0:
            await self._finished.wait()


class PriorityQueue(Queue):
    def _init(self):
        self._queue = []

    def _put(self, item):
        _heappush(self._queue, item)

    def _get(self):
        return _heappop(self._queue)


class LifoQueue(Queue):
    def _init(self):
        self._queue = []

    def _put(self, item):
        self._queue.append(item)

    def _get(self):
        return self._queue.pop()
