# Chance from the host: blocks of 32 bytes, each for a label of its own, read from the front.
from cowboy_sdk.runtime import randomness as _randomness


class _Stream:
    # In one object, so that a call that waits writes down this and not the module.
    prefix = b'N'
    counter = 0
    buffer = b''
    used = 0


_stream = _Stream()


def _prefix_of(a):
    if a is None:
        return b'N'
    if isinstance(a, (bytes, bytearray)):
        return b'B' + bytes(a)
    if isinstance(a, str):
        return b'S' + a.encode()
    if isinstance(a, int):
        length = (a.bit_length() + (a < 0) + 7) // 8
        return b'I' + a.to_bytes(length or 1, 'big', signed=a < 0)
    raise TypeError('a seed is an int, bytes, text or None')


def seed(a=None, version=2):
    _stream.prefix = _prefix_of(a)
    _stream.counter = 0
    _stream.buffer = b''
    _stream.used = 0


def getstate():
    return (1, _stream.prefix, _stream.counter, _stream.buffer, _stream.used)


def setstate(state):
    if not isinstance(state, tuple) or len(state) != 5:
        raise ValueError('a state is the tuple that getstate() gives')
    version, prefix, counter, buffer, used = state
    if version != 1:
        raise ValueError('a state of another version')
    for value in (prefix, buffer):
        if not isinstance(value, (bytes, bytearray)):
            raise TypeError('a state holds bytes')
    if not isinstance(counter, int) or not isinstance(used, int):
        raise TypeError('a state holds integers')
    if not 0 <= used <= len(buffer):
        raise ValueError('a state that reads beyond its bytes')
    _stream.prefix, _stream.counter, _stream.buffer, _stream.used = bytes(prefix), counter, bytes(buffer), used


def randbytes(n):
    if n <= 0:
        return b''
    if _stream.used:
        _stream.buffer = _stream.buffer[_stream.used:]
        _stream.used = 0
    while len(_stream.buffer) < n:
        label = b'random' + _stream.prefix + _stream.counter.to_bytes(8, 'little')
        _stream.counter += 1
        _stream.buffer += _randomness(label)
    _stream.used = n
    return _stream.buffer[:n]


def getrandbits(k):
    if k < 0:
        raise ValueError('the number of bits cannot be negative')
    length = (k + 7) // 8
    return int.from_bytes(randbytes(length), 'big') >> (length * 8 - k)


def _below(n):
    if n <= 0:
        raise ValueError('n must be above 0')
    bits = n.bit_length()
    while True:
        number = getrandbits(bits)
        if number < n:
            return number


def random():
    return getrandbits(53) / 9007199254740992


def randrange(start, stop=None, step=1):
    if stop is None:
        start, stop = 0, start
    if step == 0:
        raise ValueError('a step cannot be zero')
    count = (stop - start + step - (1 if step > 0 else -1)) // step
    if count <= 0:
        raise ValueError('the range is empty')
    return start + step * _below(count)


def randint(a, b):
    return randrange(a, b + 1)


def choice(seq):
    if not seq:
        raise IndexError('there is nothing to choose from')
    return seq[_below(len(seq))]


def shuffle(x):
    for last in range(len(x) - 1, 0, -1):
        other = _below(last + 1)
        x[last], x[other] = x[other], x[last]


def uniform(a, b):
    return a + (b - a) * random()


def sample(population, k):
    if k < 0:
        raise ValueError('the size of a sample cannot be negative')
    pool = list(population)
    if k > len(pool):
        raise ValueError('the sample is larger than the population')
    chosen = []
    for end in range(len(pool), len(pool) - k, -1):
        at = _below(end)
        chosen.append(pool[at])
        pool[at] = pool[end - 1]
    return chosen
