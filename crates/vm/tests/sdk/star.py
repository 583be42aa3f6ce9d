from cowboy_sdk import *

ALL = [ActorCallError, ActorNotFoundError, ActorRef, Address, AddressError, BlockHeight, BoundedRange,
       Capture, CaptureTypeError, CodecError, ContinuationCorruptedError, ContinuationCountLimitError,
       ContinuationLimitError, ContinuationNotFoundError, ContinuationSizeLimitError, CowboyError,
       CowboyModel, DeterminismError, GuardSet, GuardedValue, LoopBoundExceeded, ReentrancyError,
       Retry, RunnerTimeoutError, RunnerValidationError, SoftFloat, StateConflictError, TaskGroup,
       Verify, __version__, actor, bounded_loop, call, capture, check_iteration, codec, continuation,
       delete_cont, derive_actor_address, errors, load_cont, ordered_set, pvm_random, pvm_sys,
       pvm_time, reentrancy_guard, runner, runtime, save_cont, send, storage_guard]
print(len(ALL), len([one for one in ALL if one is not None]))
print(__version__, Address.ZERO, runner.RUNNER_ADDRESS == codec.decode(codec.encode(Address.JOB_DISPATCHER.to_bytes())))
