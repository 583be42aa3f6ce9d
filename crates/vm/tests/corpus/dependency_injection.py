import functools


class Container:
    def __init__(self, parent=None):
        self.parent, self.makers, self.singles, self.stack = parent, {}, {}, []

    def provide(self, name=None, *, single=False):
        def decorate(maker):
            key = name or maker.__name__
            self.makers[key] = functools.lru_cache(maxsize=None)(lambda: maker) if False else maker
            if single:
                self.singles[key] = None
            return maker
        return decorate

    def get(self, key):
        if key in self.stack:
            raise RecursionError(' -> '.join(self.stack + [key]))
        if self.singles.get(key) is not None:
            return self.singles[key]
        if key not in self.makers:
            if self.parent is not None:
                return self.parent.get(key)
            raise LookupError(f'nobody provides {key}')
        self.stack.append(key)
        try:
            made = self.makers[key](self)
        finally:
            self.stack.pop()
        if key in self.singles:
            self.singles[key] = made
        return made

    __getitem__ = get

    def child(self, **values):
        child = Container(self)
        for key, value in values.items():
            child.makers[key] = lambda c, value=value: value
        return child


app = Container()
made = []


@app.provide(single=True)
def config(c):
    made.append('config')
    return {'url': 'db://x', 'retries': 3}


@app.provide()
def database(c):
    made.append('database')
    return f"<{c['config']['url']}>"


@app.provide('service')
class Service:
    def __init__(self, c):
        self.db, self.user = c['database'], c['user']

    def __repr__(self):
        return f'Service({self.db}, {self.user})'


@app.provide()
def a(c):
    return c['b']


@app.provide()
def b(c):
    return c['a']


print(app['database'], app['database'], made)
for key in ('service', 'a', 'nothing'):
    try:
        print(app[key])
    except (LookupError, RecursionError) as error:
        print(type(error).__name__, error)
print(app.stack)
child = app.child(user='ann', database='<fake>')
child.makers['service'] = Service
print(child['service'], child['config'] is app['config'], made)


def inject(**wanted):
    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            for name, key in wanted.items():
                kwargs.setdefault(name, app[key])
            return function(*args, **kwargs)
        wrapper.wanted = wanted
        return wrapper
    return decorate


@inject(settings='config')
def connect(host, *, settings):
    """Connects."""
    return host, settings['retries']


print(connect('h'), connect('h', settings={'retries': 0}), connect.__name__, connect.__doc__, connect.wanted, connect.__wrapped__.__name__)
