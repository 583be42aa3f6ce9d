# The classes that actors catch, with the bases that they expect.

class CowboyError(Exception):
    pass


def _make(names):
    return [type(name, (CowboyError,), {'__module__': 'cowboy_sdk.errors'}) for name in names.split()]


(DeterminismError, StateConflictError, ReentrancyError, LoopBoundExceeded, CaptureTypeError,
 ContinuationLimitError, ContinuationNotFoundError, ContinuationCorruptedError,
 ContinuationSizeLimitError, ContinuationCountLimitError, CycleLimitExceeded, CallDepthExceeded,
 RunnerTimeoutError, RunnerValidationError, DeterministicValidationError, CodecError, AddressError,
 ActorNotFoundError, ActorCallError) = _make(
    'DeterminismError StateConflictError ReentrancyError LoopBoundExceeded CaptureTypeError '
    'ContinuationLimitError ContinuationNotFoundError ContinuationCorruptedError '
    'ContinuationSizeLimitError ContinuationCountLimitError CycleLimitExceeded CallDepthExceeded '
    'RunnerTimeoutError RunnerValidationError DeterministicValidationError CodecError AddressError '
    'ActorNotFoundError ActorCallError')
del _make
