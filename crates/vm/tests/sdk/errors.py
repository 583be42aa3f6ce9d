import cowboy_sdk
from cowboy_sdk import errors

NAMES = '''CowboyError DeterminismError StateConflictError ReentrancyError LoopBoundExceeded
CaptureTypeError ContinuationLimitError ContinuationNotFoundError ContinuationCorruptedError
ContinuationSizeLimitError ContinuationCountLimitError CycleLimitExceeded CallDepthExceeded
RunnerTimeoutError RunnerValidationError DeterministicValidationError CodecError AddressError
ActorNotFoundError ActorCallError'''.split()
for name in NAMES:
    kind = getattr(errors, name)
    print(name, [base.__name__ for base in kind.__mro__], getattr(cowboy_sdk, name) is kind, kind.__name__)
try:
    raise errors.CodecError('text', 5)
except cowboy_sdk.CowboyError as error:
    print(repr(error), str(error), error.args)

PUBLIC = '''__version__ codec errors continuation runner pvm_random pvm_sys pvm_time runtime capture call send
actor ActorRef derive_actor_address reentrancy_guard storage_guard GuardedValue GuardSet bounded_loop
BoundedRange check_iteration Verify Retry TaskGroup CowboyModel SoftFloat ordered_set BlockHeight Address
Capture save_cont load_cont delete_cont VerifyBuilder'''.split()
print([name for name in PUBLIC if not hasattr(cowboy_sdk, name)], cowboy_sdk.__version__)
