# Runs scripts under CPython with the real package: the first argument is the folder that it is installed
# in. Its mock host becomes `pvm_host`, with the hash and the chance that the tests' world has.
import hashlib
import runpy
import sys

sys.path.insert(0, sys.argv.pop(1))

ROUNDS = []
state = 1
for _ in range(24):
    constant = 0
    for bit in range(7):
        constant |= (state & 1) << ((1 << bit) - 1)
        state = (state << 1 ^ (0x171 if state & 0x80 else 0)) & 0xff if state & 0x80 else state << 1
    ROUNDS.append(constant)
MASK = (1 << 64) - 1


def turn(word, by):
    by %= 64
    return (word << by | word >> (64 - by)) & MASK if by else word


def permute(lanes):
    for constant in ROUNDS:
        columns = [lanes[x] ^ lanes[x + 5] ^ lanes[x + 10] ^ lanes[x + 15] ^ lanes[x + 20] for x in range(5)]
        for x in range(5):
            mixed = columns[(x + 4) % 5] ^ turn(columns[(x + 1) % 5], 1)
            for y in range(5):
                lanes[x + 5 * y] ^= mixed
        x, y, moved = 1, 0, lanes[1]
        for step in range(24):
            x, y = y, (2 * x + 3 * y) % 5
            lanes[x + 5 * y], moved = turn(moved, (step + 1) * (step + 2) // 2), lanes[x + 5 * y]
        for y in range(0, 25, 5):
            row = lanes[y:y + 5]
            for x in range(5):
                lanes[y + x] = row[x] ^ (~row[(x + 1) % 5] & row[(x + 2) % 5] & MASK)
        lanes[0] ^= constant


def keccak256(data):
    data = data.encode() if isinstance(data, str) else bytes(data)
    padded = bytearray(data + b'\x01' + bytes(-(len(data) + 1) % 136))
    padded[-1] |= 0x80
    lanes = [0] * 25
    for start in range(0, len(padded), 136):
        for lane in range(17):
            lanes[lane] ^= int.from_bytes(padded[start + lane * 8:start + lane * 8 + 8], 'little')
        permute(lanes)
    return b''.join(lane.to_bytes(8, 'little') for lane in lanes)[:32]


assert keccak256(b'').hex() == 'c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'

from cowboy_sdk import mock_host

mock_host.keccak256 = keccak256
mock_host.randomness = lambda label: hashlib.sha256(label).digest()
mock_host.runtime_config = lambda: {'continuation_mode': 'fsm'}
sys.modules['pvm_host'] = mock_host

runpy.run_path(__file__.replace('sdk_cpython.py', 'cpython.py'), run_name='__main__')
