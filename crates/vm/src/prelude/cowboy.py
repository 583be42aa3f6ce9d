# The host, by good names. Keys and payloads are bytes for the host; text is taken as UTF-8, and other
# values travel as canonical CBOR.
import _cbor

HostError = _HostError
Refused = _Refused
ReadOnly = _ReadOnly
NotFound = _NotFound
InsufficientFunds = _InsufficientFunds
CallDepth = _CallDepth
Reentrant = _Reentrant
LimitReached = _LimitReached
Timeout = _Timeout
Failed = _Failed
Unsupported = _Unsupported

encode = _cbor.encode
decode = _cbor.decode
_payload = _cbor.payload
_answer = _cbor.answer


def host(name, *args):
    # Any call of the host, by its own name and form.
    return _call(name, *args)


def _key(key):
    return key.encode() if isinstance(key, str) else key


# What is known about this call.

def context():
    return _call('context')


def caller():
    return _call('context')['sender']


def origin():
    return _call('context')['origin']


def address():
    return _call('context')['actor_addr']


def height():
    return _call('context')['block_height']


def timestamp():
    return _call('context')['timestamp_ms']


def chain_id():
    return _call('context')['chain_id']


def tx_hash():
    return _call('context')['tx_hash']


def value():
    return _call('context')['value']


def cycles_left():
    return _call('context')['cycles_left']


# Storage, in bytes. `storage` below has values.

def storage_get(key, default=None):
    value = _call('storage_get', _key(key))
    return default if value is None else value


def storage_set(key, value):
    _call('storage_set', _key(key), value)


def storage_delete(key):
    return _call('storage_delete', _key(key))


def storage_scan(prefix=b'', after=None, limit=100):
    return _call('storage_scan', _key(prefix), None if after is None else _key(after), limit)


class Storage:
    # The actor's storage as a dict. What is not there is None.
    def __getitem__(self, key):
        raw = _call('storage_get', key.encode() if isinstance(key, str) else key)
        return None if raw is None else decode(raw)

    def __setitem__(self, key, value):
        _call('storage_set', key.encode() if isinstance(key, str) else key, encode(value))

    def __delitem__(self, key):
        _call('storage_delete', key.encode() if isinstance(key, str) else key)

    def __contains__(self, key):
        return _call('storage_get', _key(key)) is not None

    def get(self, key, default=None):
        raw = _call('storage_get', key.encode() if isinstance(key, str) else key)
        if raw is None:
            return default
        value = decode(raw)
        return default if value is None else value

    def delete(self, key):
        _call('storage_delete', _key(key))

    def get_raw(self, key):
        return _call('storage_get', _key(key))

    def set_raw(self, key, data):
        _call('storage_set', _key(key), data)

    def scan(self, prefix=b'', limit=100, after=None):
        # Keys are bytes; values are decoded.
        return [(key, decode(raw)) for key, raw in storage_scan(prefix, after, limit)]


storage = Storage()


# Money, events, chance.

def balance(of=None):
    return _call('balance', address() if of is None else of)


def transfer(to, amount):
    _call('transfer', to, amount)


def emit(topic, data=None):
    _call('emit', topic, _payload(data))


def randomness(label=b''):
    return _call('randomness', _key(label))


# Other actors.

def call(to, method, argument=None, cycles=None, value=0):
    return _answer(_call('call', to, method, _payload(argument), cycles, value))


def send(to, method, argument=None, cycles=None, value=0):
    _call('send', to, method, _payload(argument), cycles, value)


async def ask(to, method, argument=None, cycles=None, value=0, timeout_blocks=None):
    return _answer(await _call('ask', to, method, _payload(argument), cycles, value, timeout_blocks))


def resume_cycles(cycles):
    # What this call wants for going on after each wait that it asks for from now on.
    _call('resume_cycles', cycles)


# Time.

def schedule_timer(height, payload=None, **options):
    return _call('schedule_timer', height, _payload(payload), options)


def cancel_timer(timer):
    _call('cancel_timer', timer)


def extend_timer(timer, height):
    _call('extend_timer', timer, height)


async def sleep_until(height):
    await _call('sleep_until', height)


async def sleep(blocks):
    await _call('sleep_until', height() + blocks)


# Jobs. `cowboy.runner` builds them.

def submit_job(spec, callback=None):
    return _call('submit_job', spec, callback)


def await_job(job):
    return _call('await_job', job)


def callback(method=None, *, anyone=False):
    # Marks a method that gets the results of jobs. With anyone=True, written out, the jobs of other
    # submitters may name it, too.
    def mark(method):
        method._is_open_callback = anyone is True
        return method
    return mark if method is None else mark(method)


# Rights. A scope is text: '' is this actor, others are 'pool:name', 'namespace:name', 'actor:0x...',
# 'runner:0x...' and 'global'. An action is any text.

def entitled(action, scope='', who=None):
    return _call('entitled', action, scope, who)


def use_entitlement(action, scope='', who=None, amount=0):
    return _call('use_entitlement', action, scope, who, amount)


def grant(grantee, action, scope='', **constraints):
    return _call('grant', grantee, action, scope, constraints)


def delegate(entitlement, delegatee, **constraints):
    return _call('delegate', entitlement, delegatee, constraints)


def revoke(entitlement):
    _call('revoke', entitlement)


def _name(name):
    return name if isinstance(name, str) else '0x' + name.hex()


def create_namespace(name):
    _call('create_scope', 'namespace:' + _name(name))


def create_pool(pool):
    # A pool of runners that this actor owns; jobs ask for it with required_runner_pool.
    _call('create_scope', 'pool:' + _name(pool))


def admit(pool, runner, **constraints):
    # Lets a runner into a pool of this actor's: the id of its membership, to be revoked by.
    pool = _name(pool)
    return _call('grant', runner, 'RunnerJoinPool:' + pool, 'pool:' + pool, constraints)


def is_member(pool, runner):
    pool = _name(pool)
    return _call('entitled', 'RunnerJoinPool:' + pool, 'pool:' + pool, runner)


def upgrade(source):
    _call('upgrade', source)


# Actors.

def _own_address(self):
    return address()


def actor(cls):
    # Marks the class whose methods can be called; gives its instances storage and address.
    cls.storage = storage
    if not hasattr(cls, 'address'):
        cls.address = property(_own_address)
    cls._is_cowboy_actor = True
    return cls


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
