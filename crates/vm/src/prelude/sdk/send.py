from cowboy_sdk.codec import encode
from cowboy_sdk.runtime import send_message
from cowboy_sdk.types import _addr


def send(target, payload=None, *, raw=False):
    to = _addr(target)
    if raw:
        if not isinstance(payload, (bytes, bytearray)):
            raise TypeError('send(raw=True) takes bytes, not ' + type(payload).__name__)
        payload = bytes(payload)
    else:
        payload = b'' if payload is None else encode(payload)
    send_message(to, payload)


def send_raw(target, payload):
    send(target, payload, raw=True)
