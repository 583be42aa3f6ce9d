# The block's time. What only logging asks for is fixed.
from cowboy_sdk.runtime import get_timestamp_ms as time_ms, get_block_height as block_height


def time():
    return time_ms() / 1000.0


def time_ns():
    return time_ms() * 1_000_000


monotonic = time
monotonic_ns = time_ns


def localtime(secs=None):
    return (1970, 1, 1, 0, 0, 0, 3, 1, -1)


def strftime(fmt, t=None):
    return '1970-01-01 00:00:00,000'


def block_height_obj():
    from cowboy_sdk.types import BlockHeight
    return BlockHeight(block_height())
