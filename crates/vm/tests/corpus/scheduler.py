import heapq
from collections import deque


class Task:
    counter = 0

    def __init__(self, name, generator):
        Task.counter += 1
        self.id, self.name, self.generator = Task.counter, name, generator
        self.value = None

    def step(self):
        value, self.value = self.value, None
        return self.generator.send(value)

    def __lt__(self, other):
        return self.id < other.id


class Sleep:
    def __init__(self, time):
        self.time = time


class Spawn:
    def __init__(self, name, generator):
        self.name, self.generator = name, generator


class Put:
    def __init__(self, channel, item):
        self.channel, self.item = channel, item


class Get:
    def __init__(self, channel):
        self.channel = channel


class Scheduler:
    def __init__(self):
        self.now, self.ready, self.sleeping, self.log = 0, deque(), [], []
        self.waiting, self.items = {}, {}

    def spawn(self, name, generator):
        self.ready.append(Task(name, generator))

    def run(self):
        while self.ready or self.sleeping:
            if not self.ready:
                self.now, task = heapq.heappop(self.sleeping)
                self.ready.append(task)
            task = self.ready.popleft()
            try:
                self.handle(task, task.step())
            except StopIteration as stop:
                self.log.append((self.now, task.name, 'done', stop.value))
            except Exception as error:
                self.log.append((self.now, task.name, 'failed', repr(error)))

    def handle(self, task, request):
        match request:
            case Sleep(time=time):
                heapq.heappush(self.sleeping, (self.now + time, task))
            case Spawn(name=name, generator=generator):
                self.spawn(name, generator)
                self.ready.append(task)
            case Put(channel=channel, item=item):
                if self.waiting.get(channel):
                    other = self.waiting[channel].popleft()
                    other.value = item
                    self.ready.append(other)
                else:
                    self.items.setdefault(channel, deque()).append(item)
                self.ready.append(task)
            case Get(channel=channel):
                if self.items.get(channel):
                    task.value = self.items[channel].popleft()
                    self.ready.append(task)
                else:
                    self.waiting.setdefault(channel, deque()).append(task)
            case str(text):
                self.log.append((self.now, task.name, text))
                self.ready.append(task)
            case _:
                raise TypeError(f'cannot handle {request!r}')


def producer(count):
    for n in range(count):
        yield Sleep(n % 3 + 1)
        yield Put('jobs', n * n)
    yield Put('jobs', None)
    return count


def consumer():
    total = 0
    while (item := (yield Get('jobs'))) is not None:
        total += item
        yield f'got {item}'
    return total


def parent():
    yield Spawn('child', child(2))
    yield 'spawned'
    yield 5


def child(n):
    for i in range(n):
        yield Sleep(2)
        yield f'tick {i}'
    raise ValueError('child ends')


scheduler = Scheduler()
scheduler.spawn('producer', producer(4))
scheduler.spawn('consumer', consumer())
scheduler.spawn('parent', parent())
try:
    scheduler.run()
except TypeError as error:
    print(error)
scheduler.run()
for entry in scheduler.log:
    print(*entry)
