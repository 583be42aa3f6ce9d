# Runs a program that waits under CPython: jobs are answered in the order in which they were asked for.
import asyncio
import sys
import types


class Failed(RuntimeError):
    pass


state = {'next': 0}
queue = []


def submit_job(spec):
    state['next'] += 1
    token = state['next']
    future = asyncio.get_running_loop().create_future()
    queue.append((token, future))
    return future


async def answer_all(main):
    task = asyncio.ensure_future(main)
    while not task.done():
        for _ in range(20):
            await asyncio.sleep(0)
        if queue:
            token, future = queue.pop(0)
            if future.done():
                continue
            if token % 5 == 4:
                future.set_exception(Failed('job %d failed' % token))
            else:
                future.set_result(token * 10)
    return task.result()


cowboy = types.ModuleType('cowboy')
cowboy.submit_job = submit_job
cowboy.gather = asyncio.gather
cowboy.TaskGroup = asyncio.TaskGroup if hasattr(asyncio, 'TaskGroup') else None
cowboy.height = lambda: 7
sys.modules['cowboy'] = cowboy
names = {'__name__': 'actor'}
exec(compile(open(sys.argv[1]).read(), sys.argv[1], 'exec'), names)
sys.stdout.write(asyncio.run(answer_all(names['main']())))
