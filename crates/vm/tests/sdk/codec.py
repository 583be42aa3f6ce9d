import cowboy_sdk.codec
from cowboy_sdk import codec, BlockHeight
from cowboy_sdk.codec import encode, decode
from cowboy_sdk.errors import CodecError

VALUES = [None, True, False, 0, 1, 23, 24, 255, 256, 65535, 65536, 2**32 - 1, 2**32, 2**64 - 1, -1, -24, -25,
          -256, -257, -2**63, -2**64, 0.0, -0.0, 1.5, 1e300, float('inf'), float('-inf'), 3.141592653589793,
          b'', b'abc', bytearray(b'xyz'), bytes(300), '', 'text', 'ü€𐍈', 'x' * 70000, [], [1, [2, [3]]], (), (1, 'a'),
          {}, {'b': 1, 'a': 2, 'aa': 3, '': 4}, {10: 'a', 9: 'b', 256: 'c', -1: 'd'}, {b'k': 1, 'k': 2, 1: 3, None: 4},
          {'nested': {'z': [1, {'y': None}]}}, BlockHeight(77), {True: 1, 'é': 2, 'zz': 3}, {2.5: 'x'}]
for value in VALUES:
    data = encode(value)
    print(len(data), data.hex()[:120])
    again = decode(data)
    print(type(again).__name__, again == (list(value) if isinstance(value, tuple) else value), codec.encode(again) == data)
print(repr(decode(encode({'b': 1, 'a': 2}))), decode(bytearray(b'\x01')))

# What others write: longer forms, short floats, keys in any order, tags.
for text in ['1800', '190001', '1a00000001', '1b0000000000000001', 'f93c00', 'f90001', 'f97c00', 'fa3f800000',
             'f7', 'c0623132', 'a2616201616102', 'a2616101616102', 'd9d9f701']:
    print(text, repr(decode(bytes.fromhex(text))))

for value in [{1, 2}, object, len, object(), [object()], {'a': {1}}]:
    try:
        print(encode(value))
    except CodecError as error:
        print('refused', type(error).__name__)
for text in ['', '0000', '9f01ff', '5f', 'bf', 'fc', 'f8ff', '1c']:
    try:
        print(decode(bytes.fromhex(text)))
    except CodecError as error:
        print('refused', type(error).__name__)
