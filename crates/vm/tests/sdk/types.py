from cowboy_sdk import Address, AddressError, ActorRef, BlockHeight, SoftFloat, ordered_set, derive_actor_address
from cowboy_sdk.types import _addr

RAW = bytes(range(20))
one = Address(RAW)
print(one, repr(one), one.to_hex(False), one.to_hex(checksum=True), bytes(one) == RAW, len(one))
for text in ['0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed', 'FB6916095CA1DF60BB79CE92CE3EA74C37C5D359',
             '0XDBF03B407C01E7CD3CBEA99509D93F8DDDC8C6FB'.replace('0X', '0x')]:
    address = Address.from_hex(text)
    print(address, address.to_bytes() == address.as_ref(), hash(address) == hash(Address.from_bytes(bytes(address))))
for name in ['ZERO', 'RUNNER_REGISTRY', 'JOB_DISPATCHER', 'RESULT_VERIFIER', 'SECRETS_MANAGER', 'TEE_VERIFIER', 'TOKEN_REGISTRY']:
    address = getattr(Address, name)
    print(name, address.to_hex(), address.is_zero(), address.is_system())
print(one == Address(RAW), one == RAW, one == RAW[:19], one != Address.ZERO, one.is_system(), {one: 1}[Address(RAW)])
for bad in [b'', RAW + b'x', 'text', 5, None]:
    try:
        Address(bad)
    except AddressError as error:
        print('refused', type(error).__name__)
for bad in ['0x12', 'zz' * 20, '0x' + 'f' * 41]:
    try:
        Address.from_hex(bad)
    except AddressError as error:
        print('refused', type(error).__name__)
print(_addr(one) == _addr(RAW) == _addr(bytearray(RAW)) == _addr(one.to_hex()))
for bad in [5, RAW[:3]]:
    try:
        _addr(bad)
    except AddressError:
        print('refused')
print(derive_actor_address(RAW, b'salt', b'\x07' * 32), derive_actor_address(one, bytes(40), b''))

height = BlockHeight(100)
print(height, repr(height), height + 5, type(height + 5).__name__, height - 1, int(height), height == 100, [height], f'{height}')
try:
    BlockHeight(1) - 2
except ValueError as error:
    print('refused')
print(SoftFloat is float)

some = ordered_set([3, 1, 2, 3])
some.add(9)
some.discard(77)
some.discard(1)
print(some, list(some), len(some), 3 in some, 1 in some, some.to_list())
print(some | [5], some & [2, 3], some - {2}, some.union([7], [8]), some.intersection([3, 9], [9]), some.difference([3], [9]))
print(some == ordered_set([3, 2, 9]), some == ordered_set([2, 3, 9]), some == {2, 3, 9}, some.issubset([2, 3, 9, 1]), some.issuperset([2]), some.isdisjoint([1]))
print(some.pop(), some, some.copy() == some)
for wrong in [lambda: some.remove(99), lambda: hash(some), lambda: ordered_set().pop()]:
    try:
        wrong()
    except (KeyError, TypeError) as error:
        print(type(error).__name__)
some.clear()
print(some, bool(some))

ref = ActorRef(RAW, 500)
print(ref, ref.address == RAW, ref.address_obj, ref == ActorRef(one.to_hex()), ref != ActorRef(bytes(20)), ref.with_cycles(7)._cycles_limit, ref.get_price.__name__)
try:
    ref._private
except AttributeError:
    print('private')
