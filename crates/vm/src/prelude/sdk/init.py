# `cowboy_sdk` itself: the names of its parts. Parts and names that are called the same (`actor`, `call`,
# `send`) are the names here, as in the package.
from cowboy_sdk import codec, errors, continuation, guards, pvm_random, pvm_sys, pvm_time, runner, runtime
from cowboy_sdk.errors import (
    CowboyError, DeterminismError, StateConflictError, ReentrancyError, LoopBoundExceeded,
    CaptureTypeError, ContinuationLimitError, ContinuationNotFoundError, ContinuationCorruptedError,
    ContinuationSizeLimitError, ContinuationCountLimitError, CycleLimitExceeded, CallDepthExceeded,
    RunnerTimeoutError, RunnerValidationError, DeterministicValidationError, CodecError, AddressError,
    ActorNotFoundError, ActorCallError)
from cowboy_sdk.actor import ActorRef, derive_actor_address
from cowboy_sdk.bounded_loop import BoundedRange, check_iteration
from cowboy_sdk.continuation import Capture, capture, delete_cont, load_cont, save_cont
from cowboy_sdk.guards import GuardedValue, GuardSet, reentrancy_guard, storage_guard
from cowboy_sdk.models import CowboyModel
from cowboy_sdk.retry import Retry
from cowboy_sdk.taskgroup import TaskGroup
from cowboy_sdk.types import Address, BlockHeight, SoftFloat, ordered_set
from cowboy_sdk.verify import Verify, VerifyBuilder
from cowboy_sdk.actor import actor
from cowboy_sdk.bounded_loop import bounded_loop
from cowboy_sdk.call import call
from cowboy_sdk.send import send

__version__ = '0.1.1'
__cip__ = 'CIP-6'
