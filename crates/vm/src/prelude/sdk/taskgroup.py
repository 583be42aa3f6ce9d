# Tasks begin together at the end of the block; their results are in the order of their making.
from cowboy import _run_all
from cowboy_sdk.errors import ContinuationLimitError

_TASKS_MAX = 8


class TaskHandle:
    def __init__(self, task_id, index):
        self._task_id = task_id
        self._index = index
        self._done = False
        self._result = None
        self._error = None

    def result(self):
        if not self._done:
            raise RuntimeError('task ' + str(self._index) + ' has not ended; leave the TaskGroup first')
        if self._error is not None:
            raise self._error
        return self._result

    def _set_result(self, value):
        self._result = value
        self._done = True

    def _set_error(self, error):
        self._error = error
        self._done = True

    @property
    def task_id(self):
        return self._task_id

    @property
    def index(self):
        return self._index

    def done(self):
        return self._done

    def __repr__(self):
        return f'TaskHandle(#{self._index}, {"done" if self._done else "pending"})'


class TaskGroup:
    def __init__(self, timeout_blocks=0):
        self._tasks = []
        self._awaitables = []
        self._timeout_blocks = timeout_blocks

    async def __aenter__(self):
        return self

    async def __aexit__(self, exc_type, exc_val, exc_tb):
        if exc_type is not None or not self._tasks:
            return False
        for task, result in zip(self._tasks, await _run_all(self._awaitables, True)):
            if isinstance(result, Exception):
                task._set_error(result)
            else:
                task._set_result(result)
        return False

    def create_task(self, awaitable):
        index = len(self._tasks)
        if index >= _TASKS_MAX:
            raise ContinuationLimitError('a TaskGroup has at most 8 tasks')
        if self._timeout_blocks and hasattr(awaitable, 'kwargs'):
            awaitable.kwargs.setdefault('timeout_blocks', self._timeout_blocks)
        task = TaskHandle('__taskgroup_task_' + str(index), index)
        self._tasks.append(task)
        self._awaitables.append(awaitable)
        return task

    @property
    def all_done(self):
        return all([task._done for task in self._tasks])

    @property
    def results(self):
        return [task.result() for task in self._tasks]

    def __len__(self):
        return len(self._tasks)

    def __repr__(self):
        done = len([task for task in self._tasks if task._done])
        return f'TaskGroup({done}/{len(self._tasks)} tasks done)'
