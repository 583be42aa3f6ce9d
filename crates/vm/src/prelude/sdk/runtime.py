import json
import pvm_host
from cowboy_sdk.errors import CowboyError

# One mode: a call that waits is its frames, written down.

def mode():
    return 'fsm'


def is_production():
    return True


def is_development():
    return False


def is_checkpoint_mode():
    return False


def require_fsm():
    pass


context = pvm_host.context
get_actor_address = pvm_host.self_address
get_block_height = pvm_host.current_block
charge_gas = pvm_host.charge_gas
get_state = pvm_host.get_state
set_state = pvm_host.set_state
delete_state = pvm_host.delete_state
send_message = pvm_host.send_message
randomness = pvm_host.randomness
keccak256 = pvm_host.keccak256


def get_pvm_version():
    return context().get('pvm_version', 'unknown')


def get_chain_id():
    return context()['chain_id']


def get_sender():
    return context()['sender']


def get_tx_hash():
    return context()['tx_hash']


def get_timestamp_ms():
    return context()['timestamp_ms']


def emit_event(name, payload):
    if isinstance(payload, str):
        payload = payload.encode()
    elif not isinstance(payload, bytes):
        payload = json.dumps(payload).encode()
    pvm_host.emit_event(name, payload)


def call_actor(target, method, payload, cycles_limit):
    return pvm_host.call_actor(target, method, payload, int(cycles_limit))


def submit_job(payload):
    # The package leaves the form of a job open. Here it is CBOR of what a job file has.
    import cowboy
    from cowboy_sdk import codec
    spec = codec.decode(payload)
    if not isinstance(spec, dict) or not isinstance(spec.get('job_type'), dict):
        raise CowboyError('a job is CBOR of a dict, in the form of a job file')
    cowboy.submit_job(spec)


def _no_tokens(*args, **kwargs):
    raise CowboyError('this chain has no tokens of its own kind; keep balances in an actor\'s storage')


token_create = token_balance_of = token_total_supply = token_transfer = _no_tokens
token_approve = token_allowance = token_transfer_from = token_mint = token_burn = _no_tokens
