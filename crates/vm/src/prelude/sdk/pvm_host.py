# The host by the names of `pvm_host`. Keys may be text.
import _cbor
import _hashes
from cowboy import _call, _key

cbor_encode = _cbor.encode
cbor_decode = _cbor.decode
charge_gas = _burn


def context():
    return _call('context')


def self_address():
    return _call('context')['actor_addr']


def current_block():
    return _call('context')['block_height']


def runtime_config():
    return {'continuation_mode': 'fsm'}


def get_state(key):
    return _call('storage_get', _key(key))


def set_state(key, value):
    _call('storage_set', _key(key), bytes(value))


def delete_state(key):
    _call('storage_delete', _key(key))


def emit_event(name, data):
    _call('emit', name, data)


def randomness(domain):
    return _call('randomness', _key(domain))


def keccak256(data):
    return _hashes.keccak256(_key(data))


def call_actor(target, method, payload, cycles_limit=100_000):
    return _call('call', target, method, payload, cycles_limit, 0)


def send_message(target, payload):
    # Messages without a method's name go to the one that the package's actors have for them.
    _call('send', target, 'handle_message', payload, None, 0)
