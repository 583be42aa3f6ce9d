# Jobs: `await runner.http(url)` orders the work and goes on with its result in a later block;
# `runner.http(url).submit('method')` orders it and lets a method be called with the result.
import json
import cowboy
from cowboy import _call, verify

# What a job has unless it says otherwise. Amounts are base units: 10 CBY.
MODEL = 'default'
PRICE = 10_000_000_000
RETURN_BYTES = 16384

# The hash that runners know their DNS verifier by.
_DNS = '0x7b0b9edbc1b3976e1c2eb81cc2ed1cac70c3350fc959a243e4289b62edd7a5be'

_BOUNDS = ('max_input_tokens', 'max_output_tokens', 'max_wall_time_seconds', 'max_memory_mb', 'max_retries')
_SCHEMA = ('max_return_bytes', 'expected_execution_ms', 'data_format')
_PLAIN = ('tip', 'timeout_blocks', 'callback', 'tee_required', 'secrets', 'required_runner_pool')


class Job:
    def __init__(self, work, read, data_format, options):
        options = dict(options)
        spec = {'job_type': work, 'verification': options.pop('verify', None) or verify.none()}
        spec['bounds'] = {name: options.pop(name) for name in _BOUNDS if name in options}
        schema = {'max_return_bytes': RETURN_BYTES, 'expected_execution_ms': 1000, 'data_format': data_format}
        for name in _SCHEMA:
            if name in options:
                schema[name] = options.pop(name)
        spec['result_schema'] = schema
        spec['max_price'] = options.pop('max_price', PRICE)
        for name in _PLAIN:
            if name in options:
                spec[name] = _text(options.pop(name))
        if options:
            raise TypeError("a job has no option '" + list(options)[0] + "'")
        self.spec = spec
        self._read = read

    def submit(self, callback=None):
        # Its id. The method of that name gets a dict with `job_id`, `status` and `result`.
        return _call('submit_job', self.spec, callback)

    def __await__(self):
        return self.result()

    async def result(self):
        answer = await _call('await_job', self.submit())
        return self._read(answer['result'])

    def __repr__(self):
        return 'Job(' + list(self.spec['job_type'])[0] + ')'


def _text(value):
    return '0x' + value.hex() if isinstance(value, (bytes, bytearray)) else value


def read_bytes(result):
    return result


def read_json(result):
    # What a single runner says of a job that cannot be done is no result.
    value = json.loads(result.decode())
    if isinstance(value, dict) and 'error' in value:
        raise cowboy.Failed(str(value['error']) + ': ' + str(value.get('detail', '')))
    return value


def read_content(result):
    value = read_json(result)
    return value['content'] if isinstance(value, dict) and 'content' in value else value


def read_tool(result):
    value = read_json(result)
    if isinstance(value, dict):
        for name in ('value', 'text'):
            if name in value:
                return value[name]
    return value


def llm(prompt=None, *, system=None, messages=None, model=None, temperature=0, seed=0, full=False, **options):
    # A language model's answer: its text, or with `full` a dict of content, finish_reason and model.
    turns = list(messages or [])
    if system is not None:
        turns.insert(0, {'role': 'system', 'content': system})
    if prompt is not None:
        turns.append({'role': 'user', 'content': prompt})
    work = {'Llm': {'model': model or MODEL, 'messages': turns,
                    'temperature_milli': round(temperature * 1000), 'seed': seed}}
    options.setdefault('expected_execution_ms', 5000)
    return Job(work, read_json if full else read_content, 'json', options)


def http(url, *, method='GET', headers=None, body=b'', extract='', **options):
    # A dict of status and value, if `extract` names a field of the answer, else of status,
    # content_type and body.
    pairs = headers.items() if isinstance(headers, dict) else headers or ()
    work = {'Http': {'method': method.upper(), 'url': url,
                     'headers': [{'name': name, 'value': value} for name, value in pairs],
                     'body': _text(body.encode() if isinstance(body, str) else body), 'extract': extract}}
    return Job(work, read_json, 'json', options)


def mcp(server, tool, arguments=None, **options):
    # What a tool gives: a value, or text.
    text = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
    return Job({'Mcp': {'server': server, 'tool': tool, 'arguments': text}}, read_tool, 'json', options)


def eth(chain_id, raw_transaction, **options):
    # Sends a signed transaction: a dict with its hash.
    return Job({'EthSend': {'chain_id': chain_id, 'raw_transaction': _text(raw_transaction)}},
               read_json, 'json', options)


def wasm(executor_hash, params=b'', **options):
    # Runs a program: the bytes that it gives, or its document if `data_format` is json.
    read = read_json if options.get('data_format') == 'json' else read_bytes
    return Job({'Custom': {'executor_hash': _text(executor_hash), 'params': _text(params)}},
               read, 'bytes', options)


def dns(*checks, runners=3, threshold=2, **options):
    # What resolvers say: checks are `verify.dns_txt(…)` and `verify.dns_cname(…)`.
    options['verify'] = verify.majority('passed', *checks, runners=runners, threshold=threshold)
    return Job({'Custom': {'executor_hash': _DNS}}, read_json, 'json', options)
