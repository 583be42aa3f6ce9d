# Storage that must not change while a call waits, and methods that must not be called again while they
# run.
import functools
from _hashes import keccak256 as _keccak256
from cowboy_sdk.errors import ReentrancyError, StateConflictError
from cowboy_sdk.runtime import get_state, set_state, delete_state

# The guarded values of the continuation that runs now, if one does. In a list, so that a call that
# waits writes down this and not the module.
_running = [None]


def reentrancy_guard(func):
    lock = b'__reentrancy:' + func.__name__.encode()

    def take():
        if get_state(lock) is not None:
            raise ReentrancyError("'" + func.__name__ + "' was called again before it ended")
        set_state(lock, b'\x01')

    if _is_async(func):
        # Locked until it has ended, waiting included.
        @functools.wraps(func)
        async def wrapper(self, *args, **kwargs):
            take()
            try:
                return await func(self, *args, **kwargs)
            finally:
                delete_state(lock)
    else:
        @functools.wraps(func)
        def wrapper(self, *args, **kwargs):
            take()
            try:
                return func(self, *args, **kwargs)
            finally:
                delete_state(lock)
    return wrapper


def _hash(raw):
    return None if raw is None else _keccak256(raw).hex()


class GuardedValue:
    # Raw bytes of storage. Inside a continuation, a value that somebody else changed while it waited
    # is a StateConflictError at the await.
    def __init__(self, key):
        if isinstance(key, str):
            self._key = key.encode()
            self._key_repr = key
        else:
            self._key = bytes(key)
            self._key_repr = self._key.hex()
        self._cache = None
        self._loaded = False
        if _running[0] is not None:
            _running[0].append(self)

    @property
    def key(self):
        return self._key

    @property
    def key_repr(self):
        return self._key_repr

    @property
    def value(self):
        if not self._loaded:
            self._cache = get_state(self._key)
            self._loaded = True
        return self._cache

    @value.setter
    def value(self, new_value):
        if new_value is None:
            delete_state(self._key)
        elif isinstance(new_value, (bytes, bytearray)):
            new_value = bytes(new_value)
            set_state(self._key, new_value)
        else:
            raise TypeError('a guarded value is bytes or None, not ' + type(new_value).__name__ + '; see codec.encode')
        self._cache = new_value
        self._loaded = True

    def compute_hash(self):
        return _hash(self.value)

    def verify(self, expected_hash):
        if self.compute_hash() != expected_hash:
            raise _conflict(self._key_repr)

    def __repr__(self):
        return f'GuardedValue(key={self._key_repr!r})'


def _conflict(key):
    return StateConflictError("the storage under '" + key + "' changed while the call waited")


def storage_guard(key):
    return GuardedValue(key)


class GuardSet:
    def __init__(self, *keys):
        self._guards = [GuardedValue(key) for key in keys]

    @property
    def keys(self):
        return [guard._key_repr for guard in self._guards]

    def __iter__(self):
        return iter(self._guards)

    def verify_all(self, expected_hashes):
        for guard in self._guards:
            if guard._key_repr in expected_hashes:
                guard.verify(expected_hashes[guard._key_repr])

    def __repr__(self):
        return 'GuardSet(' + repr(self.keys) + ')'
