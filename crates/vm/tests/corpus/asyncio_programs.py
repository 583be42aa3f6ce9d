import asyncio

async def work(name, delay, log):
    log.append(f'{name} begins')
    await asyncio.sleep(delay)
    log.append(f'{name} ends')
    return name

async def main():
    log = []
    print(await asyncio.gather(work('a', 0.03, log), work('b', 0.01, log), work('c', 0.02, log)), log)
    log = []
    task = asyncio.create_task(work('t', 0.05, log), name='mine')
    print(task.get_name(), task.done(), asyncio.current_task().get_name())
    await asyncio.sleep(0)
    print(log)
    task.cancel()
    try:
        await task
    except asyncio.CancelledError:
        print('cancelled', task.cancelled())
    try:
        await asyncio.wait_for(asyncio.sleep(1), 0.01)
    except asyncio.TimeoutError as error:
        print('late', type(error).__name__)
    print(await asyncio.wait_for(work('w', 0.01, log), 1))
    async def bad(delay=0):
        await asyncio.sleep(delay)
        raise ValueError('bad')
    try:
        await asyncio.gather(work('x', 0.001, log), bad())
    except ValueError as error:
        print('gather raised', error)
    print(await asyncio.gather(bad(), work('y', 0, log), return_exceptions=True))
    done, pending = await asyncio.wait([asyncio.create_task(work('p', 0.01, log)), asyncio.create_task(work('q', 0.05, log))], return_when=asyncio.FIRST_COMPLETED)
    print([t.result() for t in done], len(pending))
    for t in pending: t.cancel()
    for next_one in asyncio.as_completed([work('s3', 0.03, log), work('s1', 0.01, log), work('s2', 0.02, log)]):
        print(await next_one, end=' ')
    print()

async def producer(queue, n):
    for i in range(n):
        await queue.put(i)
        print('put', i)
        await asyncio.sleep(0.001)
    await queue.put(None)

async def consumer(queue):
    while (item := await queue.get()) is not None:
        print('got', item)
        queue.task_done()
    queue.task_done()
    return 'consumed'

async def pipeline():
    queue = asyncio.Queue(maxsize=2)
    results = await asyncio.gather(producer(queue, 3), consumer(queue))
    await queue.join()
    print(results, queue.empty(), queue.qsize(), queue.maxsize)
    p = asyncio.PriorityQueue()
    for x in (3, 1, 2): p.put_nowait(x)
    print([await p.get() for _ in range(3)])
    try: p.get_nowait()
    except asyncio.QueueEmpty as error: print(type(error).__name__)

async def locks():
    lock = asyncio.Lock(); event = asyncio.Event(); sem = asyncio.Semaphore(2); order = []
    async def locked(n):
        async with lock:
            order.append(('in', n)); await asyncio.sleep(0.001); order.append(('out', n))
    await asyncio.gather(*(locked(i) for i in range(3)))
    print(order)
    active = most = 0
    async def limited(n):
        nonlocal active, most
        async with sem:
            active += 1; most = max(most, active)
            await asyncio.sleep(0.01)
            active -= 1
    await asyncio.gather(*(limited(i) for i in range(6)))
    print('most', most)
    async def waits(n):
        await event.wait(); return n
    tasks = [asyncio.create_task(waits(i)) for i in range(3)]
    await asyncio.sleep(0); event.set()
    print(await asyncio.gather(*tasks), event.is_set())
    condition = asyncio.Condition(); items = []
    async def taker():
        async with condition:
            await condition.wait_for(lambda: items)
            return items.pop()
    task = asyncio.create_task(taker())
    await asyncio.sleep(0)
    async with condition:
        items.append('thing'); condition.notify()
    print(await task)

async def agen(n):
    try:
        for i in range(n):
            await asyncio.sleep(0)
            yield i
    finally:
        print('agen closed')

async def groups():
    async with asyncio.TaskGroup() as group:
        a = group.create_task(asyncio.sleep(0.01, 'one')); b = group.create_task(asyncio.sleep(0.02, 'two'))
    print(a.result(), b.result())
    async def fails(): raise KeyError('k')
    async def long():
        try: await asyncio.sleep(10)
        except asyncio.CancelledError: print('long is told'); raise
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(fails()); group.create_task(long())
    except ExceptionGroup as error:
        print(error, error.exceptions)
    try:
        async with asyncio.timeout(0.01): await asyncio.sleep(1)
    except TimeoutError: print('timeout')
    print([x async for x in agen(3)], await asyncio.shield(asyncio.sleep(0.001, 'kept')))
    loop = asyncio.get_running_loop(); future = loop.create_future()
    loop.call_later(0.01, future.set_result, 42); loop.call_soon(print, 'soon')
    print(await future, future.done(), await asyncio.to_thread(max, 3, 4))

async def left_over():
    try: await asyncio.sleep(100)
    finally: print('tidied')

async def leaves():
    asyncio.create_task(left_over())
    await asyncio.sleep(0)
    return 'main is done'

class Manager:
    async def __aenter__(self): await asyncio.sleep(0); print('enter'); return self
    async def __aexit__(self, *details): print('exit', details[0]); return True
async def managed():
    async with Manager():
        raise RuntimeError('gone')
    print(asyncio.iscoroutinefunction(managed), asyncio.iscoroutine(3))

for one in (main, pipeline, locks, groups, leaves, managed):
    print(asyncio.run(one()))
try: asyncio.run(asyncio.sleep(-1, 'x')) and asyncio.get_running_loop()
except RuntimeError as error: print(error)
async def boom(): raise LookupError('out')
try: asyncio.run(boom())
except LookupError as error: print(repr(error))
