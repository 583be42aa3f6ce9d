import _cbor
from cowboy_sdk.errors import CodecError


def encode(value):
    try:
        return _cbor.encode(value)
    except ValueError as error:
        raise CodecError(str(error)) from None


def decode(data):
    try:
        return _cbor.decode(data)
    except ValueError as error:
        raise CodecError(str(error)) from None
