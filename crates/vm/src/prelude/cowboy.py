# The host, by the names of its calls.

def call(name, *args):
    return _call(name, *args)


def storage_get(key, default=None):
    value = _call('storage_get', key)
    return default if value is None else value


def storage_set(key, value):
    return _call('storage_set', key, value)


def storage_delete(key):
    return _call('storage_delete', key)


def emit(name, *values):
    return _call('emit', name, list(values))


def height():
    return _call('height')


def timestamp():
    return _call('timestamp')


def caller():
    return _call('caller')


def randomness(label):
    return _call('randomness', label)


def send(target, message):
    return _call('send', target, message)


def schedule_timer(height, payload, **options):
    return _call('schedule_timer', height, payload, options)


def submit_job(spec):
    return _call('submit_job', spec)
