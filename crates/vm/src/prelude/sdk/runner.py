# Jobs as the package orders them: `await runner.llm(prompt)` inside any `async def`.
from cowboy import Failed, HostError, Timeout, _call, runner as _jobs
from cowboy_sdk import verify as _verify
from cowboy_sdk.continuation import decorator as continuation
from cowboy_sdk.errors import CowboyError, RunnerTimeoutError, RunnerValidationError
from cowboy_sdk.types import Address

RUNNER_ADDRESS = Address.JOB_DISPATCHER.as_ref()

# Options that a job has under its own name; everything else is the tool's or the request's.
_OPTIONS = ('max_price', 'tip', 'timeout_blocks', 'tee_required', 'secrets', 'required_runner_pool',
            'max_input_tokens', 'max_output_tokens', 'max_wall_time_seconds', 'max_memory_mb',
            'max_retries', 'max_return_bytes', 'expected_execution_ms')


class _RunnerAwaitable:
    # What `await` and `TaskGroup.create_task` take.
    def __init__(self, job_type, *args, **kwargs):
        self.job_type = job_type
        self.args = args
        self.kwargs = kwargs

    def __await__(self):
        return self._result()

    async def _result(self):
        job, checks = _JOBS[self.job_type](self.args, self.kwargs)
        try:
            answer = await _call('await_job', job.submit())
            value = job._read(answer['result'])
        except Timeout as error:
            raise RunnerTimeoutError(str(error)) from error
        except (Failed, ValueError) as error:
            # It failed, or its result is not what such a job gives.
            raise RunnerValidationError(str(error)) from error
        except HostError as error:
            raise CowboyError(str(error)) from error
        _verify._check(value, checks)
        return value


def _take(kwargs, field):
    # Splits off what the job itself is told.
    rest = dict(kwargs)
    options = {name: rest.pop(name) for name in _OPTIONS if name in rest}
    # The host's own word for a second try is not the package's: trying again is the program's.
    rest.pop('retry', None)
    verification, checks, tee, timeout = _verify._translate(rest.pop('verify', None), field)
    options['verify'] = verification
    if tee:
        options['tee_required'] = True
    if timeout:
        options.setdefault('timeout_blocks', timeout)
    return rest, options, checks


def _unknown(kind, rest):
    if rest:
        raise CowboyError('runner.' + kind + " has no option '" + list(rest)[0] + "'")


def _llm(args, kwargs):
    rest, options, checks = _take(kwargs, 'content')
    prompt = args[0] if args else rest.pop('prompt', None)
    system = rest.pop('system_prompt', None) or rest.pop('system', None)
    options['max_output_tokens'] = rest.pop('max_tokens', options.get('max_output_tokens', 0))
    job = _jobs.llm(prompt, system=system, messages=rest.pop('messages', None), model=rest.pop('model', None),
                    temperature=rest.pop('temperature', 0), seed=rest.pop('seed', 0), **options)
    _unknown('llm', rest)
    return job, checks


def _http(args, kwargs):
    extract = kwargs.get('extract', '')
    rest, options, checks = _take(kwargs, 'value' if extract else 'body')
    rest.pop('extract', None)
    url = args[0] if args else rest.pop('url', None)
    body = rest.pop('body', None)
    if body is None:
        body = rest.pop('data', b'')
    headers = rest.pop('headers', None)
    if 'json' in rest:
        import json
        body = json.dumps(rest.pop('json'))
        headers = {'content-type': 'application/json', **dict(headers or {})}
    job = _jobs.http(url, method=rest.pop('method', 'GET'), headers=headers, body=body, extract=extract, **options)
    _unknown('http', rest)
    return job, checks


def _mcp(args, kwargs):
    rest, options, checks = _take(kwargs, 'value')
    server, tool = rest.pop('server'), rest.pop('tool')
    arguments = args[0] if args and isinstance(args[0], dict) else {}
    return _jobs.mcp(server, tool, {**arguments, **rest}, **options), checks


_JOBS = {'llm': _llm, 'http': _http, 'mcp': _mcp}


def llm(*args, **kwargs):
    return _RunnerAwaitable('llm', *args, **kwargs)


def http(*args, **kwargs):
    return _RunnerAwaitable('http', *args, **kwargs)


def mcp(server, tool, *args, **kwargs):
    return _RunnerAwaitable('mcp', *args, server=server, tool=tool, **kwargs)


def _extract_result(msg):
    cid = msg.get('cid') if isinstance(msg, dict) else getattr(msg, 'cid', None)
    if cid is None:
        raise ValueError("the message has no 'cid'")
    return cid, msg.get('result') if isinstance(msg, dict) else getattr(msg, 'result', None)


def handle_runner_result(self, msg):
    name = msg.get('reply_handler') if isinstance(msg, dict) else getattr(msg, 'reply_handler', None)
    if name is None:
        raise ValueError("the message has no 'reply_handler'")
    handler = getattr(self, name, None)
    if handler is None:
        raise AttributeError("'" + type(self).__name__ + "' has no method '" + name + "'")
    return handler(msg)
