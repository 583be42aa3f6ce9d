# Calls that wait. The machine writes their frames down, so nothing has to be compiled or saved by hand;
# `_continue` adds what the decorators promise: guarded storage and a time limit.
from _hashes import keccak256 as _keccak256
from cowboy import _call
from cowboy_sdk import codec
from cowboy_sdk.errors import (CaptureTypeError, ContinuationCountLimitError, ContinuationCorruptedError,
                               ContinuationLimitError, ContinuationNotFoundError,
                               ContinuationSizeLimitError, CowboyError, RunnerTimeoutError)
from cowboy_sdk.guards import _conflict, _hash, _running
from cowboy_sdk.runtime import context, delete_state, get_block_height, get_state, set_state

_CAPTURED = (bool, int, str, bytes, bytearray, float, type(None), list, dict, tuple)
_SIMPLE = (bool, int, str, bytes, bytearray, float, type(None))


def _check_capture_type(value, path=''):
    if isinstance(value, _SIMPLE):
        return
    if isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            if not isinstance(item, _SIMPLE):
                _check_capture_type(item, path + '[' + str(index) + ']')
    elif isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, (str, int)):
                raise CaptureTypeError("a dict in '" + path + "' has a key of type " + type(key).__name__)
            if not isinstance(item, _SIMPLE):
                _check_capture_type(item, path + '.' + str(key))
    else:
        raise CaptureTypeError("'" + path + "' would hold a value of type " + type(value).__name__
                               + ', which has no bytes; plain values, lists and dicts have')


class Capture:
    # A namespace for plain values. Locals are kept as well; programs may use either.
    __slots__ = ('_data',)

    def __init__(self):
        object.__setattr__(self, '_data', {})

    def __getattr__(self, name):
        if name != '_data' and name in self._data:
            return self._data[name]
        raise AttributeError("nothing was captured as '" + name + "'")

    def __setattr__(self, name, value):
        if name == '_data':
            object.__setattr__(self, name, value)
            return
        if not isinstance(value, _SIMPLE):
            _check_capture_type(value, name)
        self._data[name] = value

    def __contains__(self, name):
        return name in self._data

    def __repr__(self):
        return 'Capture(' + repr(self._data) + ')'

    def to_dict(self):
        return dict(self._data)

    def update(self, d):
        for name, value in d.items():
            setattr(self, name, value)

    def get(self, name, default=None):
        return self._data.get(name, default)

    @classmethod
    def from_dict(cls, d):
        made = cls()
        made._data = dict(d)
        return made


def capture():
    return Capture()


# For programs that keep states themselves, under the keys that the package has for them.

_PREFIX = b'__continuation:'
_COUNT = b'__continuation_count'
_SIZE_MAX = 64 * 1024
_COUNT_MAX = 100


def new_cid(self_obj, name):
    call = context()
    return _keccak256(call['tx_hash'] + call['sender'] + call['actor_addr'] + str(name).encode())


def _count():
    return int.from_bytes(get_state(_COUNT) or b'', 'big')


def _key_repr(key):
    return key if isinstance(key, str) else bytes(key).hex()


def _storage_key(shown):
    try:
        return bytes.fromhex(shown)
    except ValueError:
        return shown.encode()


def save_cont(cid, state, ctx, handler, timeout_blocks=0, guard_keys=None):
    height = get_block_height()
    encoded = codec.encode({
        'state': int(state),
        'ctx': ctx.to_dict() if isinstance(ctx, Capture) else dict(ctx),
        'handler': str(handler),
        'timeout_at_block': height + timeout_blocks if timeout_blocks > 0 else 0,
        'guard_hashes': {_key_repr(key): _hash(get_state(key)) for key in guard_keys or ()},
        'created_at_block': height,
    })
    if len(encoded) > _SIZE_MAX:
        raise ContinuationSizeLimitError('a state has at most 64 KiB, not ' + str(len(encoded)) + ' bytes')
    if get_state(_PREFIX + cid) is None:
        count = _count()
        if count >= _COUNT_MAX:
            raise ContinuationCountLimitError('an actor keeps at most 100 states; delete what has ended')
        set_state(_COUNT, (count + 1).to_bytes(4, 'big'))
    set_state(_PREFIX + cid, encoded)


def load_cont(cid):
    try:
        data = codec.decode(load_cont_raw(cid))
        guards = data['guard_hashes'].items()
        limit = data['timeout_at_block']
        data['ctx'] = Capture.from_dict(data['ctx'])
    except ContinuationNotFoundError:
        raise
    except (CowboyError, TypeError, KeyError, AttributeError) as error:
        raise ContinuationCorruptedError('the state does not read: ' + str(error)) from error
    for shown, expected in guards:
        if _hash(get_state(_storage_key(shown))) != expected:
            raise _conflict(shown)
    if 0 < limit < get_block_height():
        raise RunnerTimeoutError('the state was good until block ' + str(limit))
    return data


def load_cont_raw(cid):
    raw = get_state(_PREFIX + cid)
    if raw is None:
        raise ContinuationNotFoundError('there is no state ' + cid.hex())
    return raw


def delete_cont(cid):
    if get_state(_PREFIX + cid) is not None:
        delete_state(_PREFIX + cid)
        set_state(_COUNT, max(0, _count() - 1).to_bytes(4, 'big'))


encode_payload = codec.encode
decode_payload = codec.decode


# The decorators.

async def _continue(coroutine, timeout_blocks, guard_keys):
    # Steps of the coroutine, with a look at what it guards before and after each wait.
    guards = []
    for key in guard_keys:
        guards.append((_key_repr(key), key.encode() if isinstance(key, str) else bytes(key)))
    declared = []
    limit = get_block_height() + timeout_blocks if timeout_blocks > 0 else 0
    answer = None
    error = None
    try:
        while True:
            before = _running[0]
            _running[0] = declared
            try:
                if error is None:
                    waits = coroutine.send(answer)
                else:
                    waits = coroutine.throw(error)
            except StopIteration as stop:
                return stop.value
            finally:
                _running[0] = before
            error = None
            while declared:
                guarded = declared.pop()
                guards.append((guarded._key_repr, guarded._key))
            seen = [_call('storage_get', key) for _, key in guards]
            hashes = [_hash(raw) for raw in seen]
            del seen
            answer = await _Relay(waits)
            for index in range(len(guards)):
                shown, key = guards[index]
                if _hash(_call('storage_get', key)) != hashes[index]:
                    error = _conflict(shown)
            if limit and get_block_height() > limit:
                error = RunnerTimeoutError('the call was to end before block ' + str(limit + 1))
    finally:
        coroutine.close()


def decorator(func=None, *, timeout_blocks=0, guard_keys=None):
    # With or without arguments.
    if func is None:
        return lambda function: decorator(function, timeout_blocks=timeout_blocks, guard_keys=guard_keys)
    if not callable(func):
        raise TypeError('a continuation is a function, not ' + repr(func))
    if not _is_async(func):
        raise ContinuationLimitError("'" + func.__name__ + "' is no async def")
    keys = guard_keys or []

    def start(*args, **kwargs):
        return _continue(func(*args, **kwargs), timeout_blocks, keys)
    start.__name__ = func.__name__
    start.__wrapped__ = func
    start._is_continuation = True
    start._timeout_blocks = timeout_blocks
    start._guard_keys = keys
    return start
