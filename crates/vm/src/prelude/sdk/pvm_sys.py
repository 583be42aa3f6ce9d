from cowboy_sdk.runtime import (context as get_context, get_sender, get_actor_address, get_tx_hash,
                                get_block_height, get_timestamp_ms)


def __getattr__(name):
    # Asked of the host when a program asks.
    if name in ('chain_id', 'pvm_version', 'stdlib_hash'):
        return get_context().get(name)
    raise AttributeError("module 'cowboy_sdk.pvm_sys' has no attribute '" + name + "'")
