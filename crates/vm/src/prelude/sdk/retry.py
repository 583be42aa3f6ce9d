class Retry:
    # How many more times, and how many blocks later.
    BACKOFF_SEQUENCE = [1, 2, 4, 8]

    def __init__(self, max_attempts=3, on_error=True, on_empty=False, on_validation_fail=False):
        if not 0 <= max_attempts <= 4:
            raise ValueError('max_attempts lies between 0 and 4, not at ' + str(max_attempts))
        self._max_attempts = max_attempts
        self._on_error = on_error
        self._on_empty = on_empty
        self._on_validation_fail = on_validation_fail
        self._attempt = 0

    @property
    def max_attempts(self):
        return self._max_attempts

    @property
    def current_attempt(self):
        return self._attempt

    def has_next(self):
        return self._attempt < self._max_attempts

    def next_delay(self):
        if not self.has_next():
            raise StopIteration('no attempt is left')
        delay = self.BACKOFF_SEQUENCE[self._attempt]
        self._attempt += 1
        return delay

    def should_retry_on_error(self):
        return self._on_error and self.has_next()

    def should_retry_on_empty(self):
        return self._on_empty and self.has_next()

    def should_retry_on_validation_fail(self):
        return self._on_validation_fail and self.has_next()

    def reset(self):
        self._attempt = 0
        return self

    def to_dict(self):
        return {
            'max_attempts': self._max_attempts,
            'backoff_blocks': self.BACKOFF_SEQUENCE[:self._max_attempts],
            'on_error': self._on_error,
            'on_empty': self._on_empty,
            'on_validation_fail': self._on_validation_fail,
        }

    @classmethod
    def from_dict(cls, d):
        return cls(d.get('max_attempts', 3), d.get('on_error', True), d.get('on_empty', False),
                   d.get('on_validation_fail', False))

    def __repr__(self):
        return f'Retry(max_attempts={self._max_attempts}, attempt={self._attempt}, on_error={self._on_error})'

    def __iter__(self):
        return self

    __next__ = next_delay
