import _cbor
from cowboy import HostError, NotFound, CallDepth, _call
from cowboy_sdk.codec import encode
from cowboy_sdk.errors import ActorCallError, ActorNotFoundError, CallDepthExceeded
from cowboy_sdk.types import Address, _addr


def call(target, method, args=None, cycles_limit=100_000):
    to = _addr(target)
    payload = b'' if args is None else encode(args)
    try:
        answer = _call('call', to, method, payload, cycles_limit, 0)
    except NotFound as error:
        raise ActorNotFoundError(str(error)) from error
    except CallDepth as error:
        raise CallDepthExceeded(str(error)) from error
    except HostError as error:
        raise ActorCallError(method + ' of ' + Address(to).to_hex() + ': ' + str(error)) from error
    return _cbor.answer(answer)


class ActorCallBuilder:
    def __init__(self, target):
        self._target = _addr(target)
        self._method = None
        self._args = None
        self._cycles = 100_000

    def method(self, name):
        self._method = name
        return self

    def args(self, args):
        self._args = args
        return self

    def cycles(self, limit):
        self._cycles = limit
        return self

    def execute(self):
        if self._method is None:
            raise ValueError('say with method() which one to call')
        return call(self._target, self._method, self._args, self._cycles)


def call_builder(target):
    return ActorCallBuilder(target)
