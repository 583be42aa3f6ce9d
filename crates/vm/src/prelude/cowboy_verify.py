# How a job's results are checked, in the form of a job file. Which checks fit which mode:
# `remuda job example --help`.
import json


def none():
    # One runner, taken at its word.
    return {'mode': 'none', 'runners': 1, 'threshold': 1, 'checks': []}


def bond():
    # One runner, whose stake answers for the result.
    return {'mode': 'economic_bond', 'runners': 1, 'threshold': 1, 'checks': []}


def majority(field, *checks, runners=3, threshold=2):
    # So many of the runners say the same at one field; checks of DNS may be added.
    return {'mode': 'majority_vote', 'runners': runners, 'threshold': threshold,
            'checks': [*checks, majority_vote(field)]}


def structured(*checks, runners=3, threshold=2):
    # Checks one after the other, `majority_vote` or `structured_match` among them.
    return {'mode': 'structured_match', 'runners': runners, 'threshold': threshold, 'checks': list(checks)}


def deterministic(runners=3, threshold=3):
    # The same bytes from so many; for programs that governance vouches for.
    return {'mode': 'deterministic', 'runners': runners, 'threshold': threshold, 'checks': []}


def majority_vote(field):
    return {'MajorityVote': {'field': field}}


def structured_match(*fields):
    return {'StructuredMatch': {'fields': list(fields)}}


def json_schema(schema):
    text = schema if isinstance(schema, str) else json.dumps(schema)
    return {'JsonSchemaValid': {'schema': text}}


def numeric_tolerance(field, tolerance):
    return {'NumericTolerance': {'field': field, 'tolerance': _decimal(tolerance)}}


# As far as the chain's decimals go.
_END = '100000000000000000000'


def numeric_range(field, least=None, most=None):
    return {'NumericRange': {
        'field': field,
        'min': '-' + _END if least is None else _decimal(least),
        'max': _END if most is None else _decimal(most),
    }}


def by_actor(actor, method):
    return {'Custom': {'actor': actor if isinstance(actor, str) else '0x' + bytes(actor).hex(), 'method': method}}


def dns_txt(name, value, resolvers=3):
    return {'DnsTxtRecordMatch': {'fqdn': name, 'expected_value': value, 'min_resolvers': resolvers}}


def dns_cname(name, target, resolvers=3):
    return {'DnsCnameMatch': {'fqdn': name, 'expected_target': target, 'min_resolvers': resolvers}}


def _decimal(number):
    # Nine digits after the point, none of them for nothing.
    if isinstance(number, str):
        return number
    if isinstance(number, int):
        return str(number)
    text = format(number, '.9f').rstrip('0').rstrip('.')
    return '0' if text == '-0' else text
