from cowboy_sdk import (GuardedValue, GuardSet, storage_guard, reentrancy_guard, bounded_loop, BoundedRange,
                        check_iteration, ReentrancyError, StateConflictError, LoopBoundExceeded, Capture, capture,
                        CaptureTypeError, save_cont, load_cont, delete_cont, ContinuationNotFoundError,
                        ContinuationCountLimitError, ContinuationSizeLimitError, ContinuationCorruptedError,
                        RunnerTimeoutError, runtime, codec, continuation, pvm_time)
from cowboy_sdk.bounded_loop import BoundedIterator

runtime.set_state(b'a', b'one')
guard = storage_guard('a')
print(guard, guard.key, guard.key_repr, guard.value, guard.compute_hash())
runtime.set_state(b'a', b'two')
print(guard.value, storage_guard(b'a'), storage_guard(b'a').key_repr)
before = guard.compute_hash()
guard.value = b'three'
print(guard.value, runtime.get_state(b'a'), storage_guard('none').value, storage_guard('none').compute_hash())
guard.verify(guard.compute_hash())
try:
    guard.verify(before)
except StateConflictError as error:
    print(type(error).__name__)
try:
    guard.value = 5
except TypeError:
    print('bytes only')
guard.value = None
print(runtime.get_state(b'a'), guard.value)
guards = GuardSet('a', 'b')
print(guards, guards.keys, [one.key for one in guards])
guards.verify_all({'a': None, 'c': 'x'})
try:
    guards.verify_all({'b': 'x'})
except StateConflictError:
    print('changed')


class Actor:
    def __init__(self):
        self.depth = 0

    @reentrancy_guard
    def enter(self, depth):
        return 'in' if depth == 0 else self.enter(depth - 1)

    @reentrancy_guard
    def fail(self):
        raise KeyError('x')


actor = Actor()
print(actor.enter(0), actor.enter(0), actor.enter.__name__)
try:
    actor.enter(1)
except ReentrancyError as error:
    print(type(error).__name__)
print(actor.enter(0), runtime.get_state(b'__reentrancy:enter'))
try:
    actor.fail()
except KeyError:
    print(runtime.get_state(b'__reentrancy:fail'))


@bounded_loop(max_iterations=3)
def walk(items):
    seen = []
    try:
        for item in BoundedRange(items):
            seen.append(item)
    except LoopBoundExceeded as error:
        seen.append(type(error).__name__)
    return seen


@bounded_loop()
def outer():
    return [check_iteration(), walk(2), check_iteration(), walk.__name__, walk._bounded_loop_max]


print(walk(2), walk(5), walk('abcd'), walk([1, 2, 3]), outer(), check_iteration(), outer._bounded_loop_max)
print(list(BoundedRange(4)), list(BoundedIterator('ab', 2)))
try:
    list(BoundedIterator('abc', 2))
except LoopBoundExceeded:
    print('bound')

ctx = capture()
ctx.number = 5
ctx.table = {'a': [1, (2, b'x')], 3: None}
print(ctx, ctx.number, 'number' in ctx, 'other' in ctx, ctx.get('other', 7), ctx.to_dict())
ctx.update({'more': 1.5})
print(ctx.more, Capture.from_dict({'a': 1}), isinstance(ctx, Capture))
for value in [lambda: 1, object(), {1, 2}, [object()], {'a': len}, {(1, 2): 3}]:
    try:
        ctx.bad = value
    except CaptureTypeError as error:
        print(type(error).__name__)
try:
    ctx.missing
except AttributeError:
    print('nothing there')

cid = b'\x01' * 32
save_cont(cid, 2, ctx, 'handler', timeout_blocks=5, guard_keys=['g', b'h'])
raw = runtime.get_state(b'__continuation:' + cid)
print(raw.hex(), runtime.get_state(b'__continuation_count'), continuation.load_cont_raw(cid) == raw)
loaded = load_cont(cid)
print(loaded['state'], loaded['ctx'], loaded['handler'], loaded['timeout_at_block'], loaded['created_at_block'], sorted(loaded))
runtime.set_state(b'g', b'changed')
try:
    load_cont(cid)
except StateConflictError as error:
    print(type(error).__name__)
delete_cont(cid)
delete_cont(cid)
print(runtime.get_state(b'__continuation:' + cid), runtime.get_state(b'__continuation_count'))
try:
    load_cont(cid)
except ContinuationNotFoundError as error:
    print(type(error).__name__)
runtime.set_state(b'__continuation:' + cid, b'\xff\xff')
try:
    load_cont(cid)
except ContinuationCorruptedError as error:
    print(type(error).__name__)
try:
    save_cont(cid, 0, {'x': bytes(70000)}, 'h')
except ContinuationSizeLimitError as error:
    print(type(error).__name__)
runtime.set_state(b'__continuation_count', (100).to_bytes(4, 'big'))
try:
    save_cont(b'\x02' * 32, 0, {}, 'h')
except ContinuationCountLimitError as error:
    print(type(error).__name__)
print(continuation.new_cid(None, 'method').hex())

print(runtime.get_chain_id(), runtime.get_sender(), runtime.get_actor_address(), runtime.get_tx_hash(),
      runtime.get_block_height(), runtime.get_timestamp_ms(), runtime.get_pvm_version())
print(pvm_time.time(), pvm_time.time_ns(), pvm_time.time_ms(), pvm_time.monotonic(), pvm_time.monotonic_ns(),
      pvm_time.block_height(), pvm_time.block_height_obj(), pvm_time.localtime(), pvm_time.strftime('%Y'))
from cowboy_sdk import pvm_sys
print(pvm_sys.chain_id, pvm_sys.pvm_version, pvm_sys.stdlib_hash, pvm_sys.get_sender(), pvm_sys.get_block_height())
runtime.delete_state(b'g')
print(runtime.get_state(b'g'), runtime.keccak256(b'').hex())
