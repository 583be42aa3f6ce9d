# The host, by the names of its calls.

def call(name, *args):
    return _call(name, *args)


def storage_get(key, default=None):
    value = _call('storage_get', key)
    return default if value is None else value


def storage_set(key, value):
    return _call('storage_set', key, value)


def storage_delete(key):
    return _call('storage_delete', key)


def emit(name, *values):
    return _call('emit', name, list(values))


def height():
    return _call('height')


def timestamp():
    return _call('timestamp')


def caller():
    return _call('caller')


def randomness(label):
    return _call('randomness', label)


def send(target, message):
    return _call('send', target, message)


def schedule_timer(height, payload, **options):
    return _call('schedule_timer', height, payload, options)


def submit_job(spec):
    return _call('submit_job', spec)


# Several at once. The host is waited for by all of them together; each goes on when its answer is
# there. What a program sees depends on the order of the answers only.

async def _await(awaitable):
    return await awaitable


async def _run_all(awaitables, keep_errors):
    children = [_await(awaitable) for awaitable in awaitables]
    results = [None] * len(children)
    waits = {}
    steps = [(index, None) for index in range(len(children))]
    while True:
        for index, answer in steps:
            try:
                tokens = _tokens(children[index].send(answer))
            except StopIteration as stop:
                results[index] = stop.value
            except Exception as error:
                if not keep_errors:
                    for child in children:
                        child.close()
                    raise
                results[index] = error
            else:
                for token in tokens:
                    waits[token] = index
        if not waits:
            return results
        token, good, value = await _wait_any(list(waits))
        index = waits[token]
        waits = {other: waiter for other, waiter in waits.items() if waiter != index}
        steps = [(index, [token, good, value])]


async def gather(*awaitables, return_exceptions=False):
    # The first error ends all of them and is raised, unless errors are wanted as results.
    return await _run_all(awaitables, return_exceptions)


class Task:
    def __init__(self, awaitable):
        self._awaitable = awaitable
        self._done = False
        self._result = None

    def done(self):
        return self._done

    def result(self):
        if not self._done:
            raise RuntimeError('the task has not ended; leave the TaskGroup first')
        return self._result


class TaskGroup:
    # Tasks begin at the end of the block, all at once; the block is left when all have ended.
    def __init__(self):
        self._tasks = []

    async def __aenter__(self):
        return self

    def create_task(self, awaitable):
        task = Task(awaitable)
        self._tasks.append(task)
        return task

    async def __aexit__(self, kind, error, traceback):
        if error is not None:
            return False
        results = await _run_all([task._awaitable for task in self._tasks], False)
        for task, result in zip(self._tasks, results):
            task._result = result
            task._done = True
        return False
