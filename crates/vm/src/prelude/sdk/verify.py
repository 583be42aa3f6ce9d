# What results have to be, in the package's form; `_translate` makes of it what the chain checks, and
# `_check` looks at the rest when the result is there.
import json
import re
from cowboy import verify as _chain
from cowboy_sdk.errors import CowboyError, RunnerValidationError
from cowboy_sdk.types import Address

_MODES = ('consensus', 'deterministic', 'none', 'optimistic', 'tee', 'zk')
_FORMATS = ('base64', 'boolean', 'code', 'csv', 'email', 'eth_address', 'float', 'hex', 'integer', 'json',
            'markdown', 'url', 'uuid', 'xml')


class VerifyBuilder:
    def __init__(self):
        self._data = {'mode': 'none', 'runners': 1, 'threshold': 1, 'checks': []}

    def mode(self, value):
        if value not in _MODES:
            raise ValueError("there is no mode '" + value + "'; modes are " + ', '.join(_MODES))
        self._data['mode'] = value
        return self

    def runners(self, count):
        if not 1 <= count <= 21:
            raise ValueError('runners are 1 to 21, not ' + str(count))
        self._data['runners'] = count
        return self

    def threshold(self, count):
        self._data['threshold'] = count
        return self

    def check(self, checker):
        if not isinstance(checker, dict) or 'kind' not in checker:
            raise ValueError('a check is what a method of Verify gives, not ' + repr(checker))
        self._data['checks'].append(checker)
        return self

    def timeout_blocks(self, blocks):
        self._data['timeout_blocks'] = blocks
        return self

    def build(self):
        if self._data['threshold'] > self._data['runners']:
            raise ValueError('more runners would have to agree than there are')
        return {**self._data, 'checks': list(self._data['checks'])}


def _rule(kind, /, **parts):
    # Parts that are None are left out.
    rule = {'kind': kind}
    for name, value in parts.items():
        if value is not None:
            rule[name] = value
    return rule


def _within(name, value, low, high):
    if not low <= value <= high:
        raise ValueError(name + ' lies between ' + str(low) + ' and ' + str(high) + ', not at ' + str(value))


def _hex(data):
    return bytes(data).hex() if isinstance(data, (bytes, bytearray)) else str(data)


class Verify:
    @staticmethod
    def builder():
        return VerifyBuilder()

    @staticmethod
    def exact_match(value=None):
        return _rule('exact_match', value=value)

    @staticmethod
    def json_schema_valid(schema):
        return {'kind': 'json_schema_valid', 'schema': schema}

    @staticmethod
    def structured_match(fields):
        return _rule('structured_match', fields=list(fields))

    @staticmethod
    def majority_vote(field=None, threshold=0.5):
        return _rule('majority_vote', threshold=threshold, field=field)

    @staticmethod
    def supermajority_vote(field, threshold=0.67):
        if not 0 < threshold <= 1:
            raise ValueError('a share lies above 0 and is at most 1')
        return {'kind': 'supermajority_vote', 'field': field, 'threshold': threshold}

    @staticmethod
    def numeric_tolerance(field, tolerance):
        if tolerance < 0:
            raise ValueError('a distance is not negative')
        return {'kind': 'numeric_tolerance', 'field': field, 'tolerance': tolerance}

    @staticmethod
    def numeric_range(field, min_val=None, max_val=None):
        if min_val is not None and max_val is not None and min_val > max_val:
            raise ValueError('the range ends before it begins')
        return _rule('numeric_range', field=field, min=min_val, max=max_val)

    @staticmethod
    def set_equality(field):
        return {'kind': 'set_equality', 'field': field}

    @staticmethod
    def contains_all(substrings):
        return {'kind': 'contains_all', 'substrings': list(substrings)}

    @staticmethod
    def contains_none(substrings):
        return {'kind': 'contains_none', 'substrings': list(substrings)}

    @staticmethod
    def contains(substring):
        return {'kind': 'contains', 'substring': substring}

    @staticmethod
    def regex_match(pattern):
        return {'kind': 'regex_match', 'pattern': pattern}

    @staticmethod
    def length_bounds(min_len=0, max_len=None):
        return _rule('length_bounds', min=min_len, max=max_len)

    @staticmethod
    def length_limit(max_bytes, min_bytes=None):
        return _rule('length_limit', max_bytes=max_bytes, min_bytes=min_bytes)

    @staticmethod
    def semantic_similarity(reference=None, threshold=0.8):
        _within('a similarity', threshold, 0, 1)
        return _rule('semantic_similarity', threshold=threshold, reference=reference)

    @staticmethod
    def no_prompt_leak():
        return {'kind': 'no_prompt_leak'}

    @staticmethod
    def entropy_check(min_entropy=3.0):
        if min_entropy < 0:
            raise ValueError('entropy is not negative')
        return {'kind': 'entropy_check', 'min_entropy': min_entropy}

    @staticmethod
    def custom(name, **kwargs):
        return {'kind': 'custom', 'name': name, **kwargs}

    @staticmethod
    def custom_actor(actor_address, method, args=None):
        if isinstance(actor_address, (bytes, bytearray)):
            actor_address = Address(bytes(actor_address)[:20])
        return _rule('custom_actor', actor=str(actor_address), method=method, args=args or None)

    @staticmethod
    def not_empty():
        return {'kind': 'not_empty'}

    @staticmethod
    def http_status(expected_status=None, range_start=None, range_end=None):
        return _rule('http_status', expected_status=expected_status, range_start=range_start, range_end=range_end)

    @staticmethod
    def response_time(max_ms):
        return {'kind': 'response_time', 'max_ms': max_ms}

    @staticmethod
    def signature_valid(public_key):
        return {'kind': 'signature_valid', 'public_key': _hex(public_key)}

    @staticmethod
    def tee_attestation(expected_measurement=None):
        measured = None if expected_measurement is None else bytes(expected_measurement).hex()
        return _rule('tee_attestation', expected_measurement=measured)

    @staticmethod
    def deterministic_output():
        return {'kind': 'deterministic_output'}

    @staticmethod
    def field_exists(*fields):
        return {'kind': 'field_exists', 'fields': list(fields)}

    @staticmethod
    def format_check(format_type, **options):
        if format_type not in _FORMATS:
            raise ValueError("there is no format '" + format_type + "'; formats are " + ', '.join(_FORMATS))
        return {'kind': 'format_check', 'format': format_type, **options}


# Checks of the chain, by the package's names.
_ON_CHAIN = {
    'json_schema_valid': lambda check: _chain.json_schema(check['schema']),
    'structured_match': lambda check: _chain.structured_match(*check['fields']),
    'numeric_tolerance': lambda check: _chain.numeric_tolerance(check['field'], check['tolerance']),
    'numeric_range': lambda check: _chain.numeric_range(check['field'], check.get('min'), check.get('max')),
    'custom_actor': lambda check: _chain.by_actor(check['actor'], check['method']),
}


def _translate(verification, field):
    # For a job: the chain's part, what is checked here, whether a TEE is asked for, blocks at most.
    if verification is None:
        return _chain.none(), [], False, 0
    if isinstance(verification, VerifyBuilder):
        verification = verification.build()
    mode = verification.get('mode', 'none')
    runners = verification.get('runners', 1)
    threshold = verification.get('threshold', 1)
    timeout = verification.get('timeout_blocks', 0)
    if mode == 'zk':
        raise CowboyError('this chain has no proofs of zero knowledge; see the other modes')
    on_chain = []
    votes = []
    here = []
    for check in verification.get('checks', ()):
        kind = check['kind']
        if kind in _HERE and (kind != 'exact_match' or 'value' in check):
            here.append(check)
        elif kind in _ON_CHAIN:
            on_chain.append(_ON_CHAIN[kind](check))
        elif kind in ('majority_vote', 'supermajority_vote', 'exact_match'):
            votes.append(_chain.majority_vote(check.get('field') or field))
            if kind == 'supermajority_vote':
                # As many as the share says, at least.
                threshold = max(threshold, -int(-check['threshold'] * runners // 1))
        elif kind != 'deterministic_output' or mode != 'deterministic':
            raise CowboyError("this chain has no check '" + kind + "'")
    if mode == 'deterministic':
        part = _chain.deterministic(runners, threshold)
    elif mode == 'consensus':
        if not votes and not any(['StructuredMatch' in check for check in on_chain]):
            votes.append(_chain.majority_vote(field))
        name = 'structured_match' if on_chain or len(votes) > 1 else 'majority_vote'
        return ({'mode': name, 'runners': runners, 'threshold': threshold, 'checks': on_chain + votes},
                here, False, timeout)
    else:
        part = _chain.bond() if mode == 'optimistic' else _chain.none()
    if on_chain or (votes and mode != 'deterministic'):
        raise CowboyError("mode '" + mode + "' asks one runner, or the same bytes of all; other checks need mode 'consensus'")
    return part, here, mode == 'tee', timeout


def _as_text(value):
    return value if isinstance(value, str) else json.dumps(value)


def _has(value, path):
    for name in path.split('.'):
        if not isinstance(value, dict) or name not in value:
            return False
        value = value[name]
    return True


def _status_fits(value, check):
    status = value.get('status') if isinstance(value, dict) else None
    if status is None:
        return False
    if 'expected_status' in check and status != check['expected_status']:
        return False
    return check.get('range_start', status) <= status <= check.get('range_end', status)


def _length(value):
    return len(value if isinstance(value, (str, list, dict)) else _as_text(value))


# What can be seen of the one result that the chain agreed on.
_HERE = {
    'exact_match': lambda value, check: value == check['value'],
    'not_empty': lambda value, check: value is not None and value != '' and value != [] and value != {},
    'contains': lambda value, check: check['substring'] in _as_text(value),
    'contains_all': lambda value, check: all([part in _as_text(value) for part in check['substrings']]),
    'contains_none': lambda value, check: not any([part in _as_text(value) for part in check['substrings']]),
    'regex_match': lambda value, check: re.fullmatch(check['pattern'], _as_text(value)) is not None,
    'length_bounds': lambda value, check: check['min'] <= _length(value) <= check.get('max', _length(value)),
    'length_limit': lambda value, check: check.get('min_bytes', 0) <= len(_as_text(value).encode()) <= check['max_bytes'],
    'field_exists': lambda value, check: all([_has(value, field) for field in check['fields']]),
    'http_status': lambda value, check: _status_fits(value, check),
}


def _check(value, checks):
    for check in checks:
        if not _HERE[check['kind']](value, check):
            raise RunnerValidationError("the result does not pass '" + check['kind'] + "'")
