# Why the host refuses. The machine makes these by the kind of the host's error; `cowboy` shows them
# without the underscore.

class HostError(RuntimeError):
    kind = 'refused'


class Refused(HostError):
    kind = 'refused'


class ReadOnly(HostError):
    kind = 'read_only'


class NotFound(HostError):
    kind = 'not_found'


class InsufficientFunds(HostError):
    kind = 'funds'


class CallDepth(HostError):
    kind = 'depth'


class Reentrant(HostError):
    kind = 'reentrant'


class LimitReached(HostError):
    kind = 'limit'


class Timeout(HostError):
    kind = 'timeout'


class Failed(HostError):
    kind = 'failed'


class Unsupported(HostError):
    kind = 'unsupported'


_HostError = HostError
_Refused = Refused
_ReadOnly = ReadOnly
_NotFound = NotFound
_InsufficientFunds = InsufficientFunds
_CallDepth = CallDepth
_Reentrant = Reentrant
_LimitReached = LimitReached
_Timeout = Timeout
_Failed = Failed
_Unsupported = Unsupported
# Not builtins: what stands without an underscore at the end of the prelude would be one.
del HostError, Refused, ReadOnly, NotFound, InsufficientFunds, CallDepth
del Reentrant, LimitReached, Timeout, Failed, Unsupported
