from _hashes import keccak256 as _keccak256
import cowboy
from cowboy import _call
from cowboy_sdk import codec
from cowboy_sdk.call import call
from cowboy_sdk.continuation import decorator as _continuation
from cowboy_sdk.errors import ContinuationNotFoundError
from cowboy_sdk.guards import GuardedValue
from cowboy_sdk.runner import _extract_result, handle_runner_result
from cowboy_sdk.send import send
from cowboy_sdk.types import Address, _addr


class _ActorStorage(cowboy.Storage):
    # Values go through the package's codec, for its errors.
    def __getitem__(self, key):
        raw = _call('storage_get', key.encode() if isinstance(key, str) else key)
        return None if raw is None else codec.decode(raw)

    def get(self, key, default=None):
        value = self[key]
        return default if value is None else value

    def __setitem__(self, key, value):
        _call('storage_set', key.encode() if isinstance(key, str) else key, codec.encode(value))

    def guard(self, key):
        return GuardedValue(key.encode() if isinstance(key, str) else key)


_storage = _ActorStorage()


def _address(self):
    return Address(cowboy.address())


_address = property(_address)


def _resume(self, msg):
    # The host goes on with a call that waits by itself; a message cannot.
    cid, _ = _extract_result(msg)
    raise ContinuationNotFoundError('no call waits for ' + (cid.hex() if isinstance(cid, bytes) else str(cid)))


def _on_runner_result(self, msg):
    if isinstance(msg, dict) and 'reply_handler' in msg:
        return handle_runner_result(self, msg)


def _dispatch(self, method_name, msg):
    handler = getattr(self, method_name, None)
    if handler is None:
        raise AttributeError("'" + type(self).__name__ + "' has no method '" + method_name + "'")
    return handler(msg)


class _Actor:
    # `@actor`, and `@actor.continuation` beside it.
    continuation = staticmethod(_continuation)

    def __call__(self, cls):
        for name, method in list(cls.__dict__.items()):
            if getattr(method, '_is_continuation', False):
                setattr(cls, name + '__resume', _resume)
        if not hasattr(cls, 'on_runner_result'):
            cls.on_runner_result = _on_runner_result
        if not hasattr(cls, '_dispatch'):
            cls._dispatch = _dispatch
        cls.storage = _storage
        cls.address = _address
        cls._is_cowboy_actor = True
        return cls


actor = _Actor()


class ActorRef:
    # Another actor: `ref.method(argument)` calls it.
    def __init__(self, address, cycles_limit=100_000):
        self._address = _addr(address)
        self._cycles_limit = cycles_limit

    @property
    def address(self):
        return self._address

    @property
    def address_obj(self):
        return Address(self._address)

    def __getattr__(self, method_name):
        if method_name.startswith('_'):
            raise AttributeError(method_name)

        def method(*args, **kwargs):
            argument = list(args) if args else None
            if kwargs:
                argument = {'args': list(args), 'kwargs': kwargs}
            return call(self._address, method_name, argument, self._cycles_limit)
        method.__name__ = method_name
        return method

    def call(self, method, args=None, cycles_limit=None):
        return call(self._address, method, args, cycles_limit or self._cycles_limit)

    def send(self, payload=None):
        send(self._address, payload)

    def with_cycles(self, cycles):
        return ActorRef(self._address, cycles)

    def __repr__(self):
        return 'ActorRef(' + Address(self._address).to_hex() + ')'

    def __eq__(self, other):
        return self._address == other._address if isinstance(other, ActorRef) else NotImplemented

    def __hash__(self):
        return hash(self._address)


def derive_actor_address(deployer, salt, code_hash):
    parts = [(part + bytes(32))[:32] for part in (salt, code_hash)]
    return Address(_keccak256(b'\xff' + _addr(deployer) + parts[0] + parts[1])[12:])
