

# What a test has beside its own names: `chain` and `ActorError`. These lines stand behind the test's own.
import cowboy as _cowboy
import json as _json


class ActorError(Exception):
    # A call that failed on the chain. `kind` and `message` are those of the actor's exception, or of the
    # chain's refusal; `file`, `line` and `function` say where it was raised, if it was.
    def __init__(self, told):
        super().__init__(told['text'])
        self.kind = told['kind']
        self.message = told['message']
        self.method = told['method']
        self.code = told['code']
        self.file = told['file']
        self.line = told['line']
        self.function = told['function']
        self.actor = told['actor']


class _Actor:
    def __init__(self, address, file):
        self.address = address
        self.file = file

    def call(self, method, payload=None, **options):
        return chain.call(self, method, payload, **options)

    def __getattr__(self, name):
        if name.startswith('_'):
            raise AttributeError(name)

        def method(payload=None, **options):
            return chain.call(self, name, payload, **options)
        return method

    def __eq__(self, other):
        return isinstance(other, _Actor) and other.address == self.address

    def __hash__(self):
        return hash(self.address)

    def __repr__(self):
        return 'Actor(' + self.file + ', 0x' + self.address.hex() + ')'


class _Job:
    def __init__(self, told):
        self.id = told['id']
        self.actor = told['actor']
        self.kind = told['kind']
        self.status = told['status']
        self.runners = told['runners']
        self.spec = told['spec']

    def __repr__(self):
        return 'Job(' + self.kind + ', ' + self.status + ', 0x' + self.id.hex() + ')'


class _Raises:
    def __init__(self, kind):
        self._kind = kind
        self.error = None

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        wanted = 'an ActorError' if self._kind is None else self._kind
        if error is None:
            raise AssertionError('the call went well; ' + wanted + ' was expected')
        if not isinstance(error, ActorError) or (self._kind is not None and error.kind != self._kind):
            return False
        self.error = error
        return True


def _plain(value):
    # Actors stand for their addresses in what is sent.
    if isinstance(value, _Actor):
        return value.address
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


def _who(who):
    if isinstance(who, str):
        return chain.account(who)
    return who.address if isinstance(who, _Actor) else who


def _value(raw):
    if raw is None or raw == b'':
        return None
    try:
        return _cowboy.decode(raw)
    except Exception:
        return raw


def _result(job, value):
    # What a runner would deliver: bytes as they are, else in the form that the job asks for.
    if value is None or isinstance(value, bytes):
        return value
    if job.spec['result_schema']['data_format'] != 'json':
        return str(value).encode()
    if job.kind == 'Llm' and isinstance(value, str):
        value = {'content': value, 'finish_reason': 'stop', 'model': job.spec['job_type']['Llm']['model']}
    return _json.dumps(value).encode()


def _asked(name, *args):
    # What actors print meanwhile stands in the test's own output, behind their files' names.
    try:
        return _cowboy.host(name, *args)
    finally:
        for file, text in _cowboy.host('test_printed'):
            for line in text.splitlines():
                print(file + ': ' + line)


class _Chain:
    CBY = 1_000_000_000

    def account(self, name):
        # The address of somebody with money. The first mention of a name makes a block.
        return _asked('test_account', name)

    def deploy(self, file, payload=None, value=0, sender='tester', cycles=None):
        told = _asked('test_deploy', file, _cowboy._payload(_plain(payload)), value, _who(sender), cycles)
        if 'text' in told:
            raise ActorError(told)
        return _Actor(told['actor'], file)

    def call(self, actor, method, payload=None, value=0, sender='tester', cycles=None):
        # What the method returned; None also if it waits for something.
        sent = _cowboy._payload(_plain(payload))
        told = _asked('test_call', _who(actor), method, sent, value, _who(sender), cycles)
        if 'text' in told:
            raise ActorError(told)
        return _value(told['value'])

    def transfer(self, to, amount, sender='tester'):
        _asked('test_transfer', _who(to), amount, _who(sender))

    def raises(self, kind=None):
        return _Raises(kind)

    def state(self, actor, key=None):
        # The value under a key, or all of them in a dict.
        if key is not None:
            return _value(_asked('test_state', _who(actor), key.encode() if isinstance(key, str) else key))
        found = {}
        for key, raw in _asked('test_storage', _who(actor)):
            found[key] = _value(raw)
        return found

    def events(self, actor=None, topic=None):
        # What actors said since the test began: pairs of topic and data.
        told = _asked('test_events', None if actor is None else _who(actor))
        return [(said, _value(raw)) for said, raw in told if topic is None or said == topic]

    def failures(self, actor=None):
        # Errors that nobody here could catch: those of timers, queued calls, and calls that waited.
        told = _asked('test_failures', None if actor is None else _who(actor))
        return [ActorError(failure) for failure in told]

    def waiting(self, actor):
        # How many of its calls wait for something.
        return _asked('test_waiting', _who(actor))

    def balance(self, who):
        return _asked('test_balance', _who(who))

    def height(self):
        return _asked('test_height')

    def blocks(self, n=1):
        # Lets time pass: timers fire, deadlines end.
        _asked('test_blocks', n)

    def jobs(self, actor=None):
        # Jobs that are not done, oldest first.
        of = None if actor is None else _who(actor)
        return [_Job(told) for told in _asked('test_jobs', of)]

    def answer(self, job, value):
        # Every runner of the job delivers this; of a list, each its own, and one that is None nothing.
        # Ends when the job has, or when it waits for other runners; says how it stands.
        if isinstance(value, list):
            results = [_result(job, item) for item in value]
            return _asked('test_answer', job.id, results, True)
        return _asked('test_answer', job.id, [_result(job, value)], False)

    def fail(self, job):
        # Nobody delivers until the job is given up.
        return _asked('test_fail', job.id)

    def runners(self):
        return _asked('test_runners')

    def offer(self, models=(), executors=(), eth_chains=()):
        # What runners can do besides: models by name, programs by hash, chains by number.
        _asked('test_offer', list(models), list(executors), list(eth_chains))


chain = _Chain()
