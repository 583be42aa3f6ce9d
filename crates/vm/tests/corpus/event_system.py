from collections import defaultdict
from functools import wraps


class Signal:
    def __init__(self):
        self.handlers = []

    def connect(self, function=None, *, priority=0):
        def decorate(function):
            self.handlers.append((-priority, len(self.handlers), function))
            self.handlers.sort(key=lambda entry: entry[:2])
            return function
        return decorate if function is None else decorate(function)

    def emit(self, *args, **kwargs):
        results = []
        for _, _, handler in self.handlers:
            result = handler(*args, **kwargs)
            if result is StopPropagation:
                break
            results.append((handler.__name__, result))
        return results


class StopPropagation:
    pass


def counted(function):
    @wraps(function)
    def wrapper(*args, **kwargs):
        wrapper.calls += 1
        return function(*args, **kwargs)
    wrapper.calls = 0
    return wrapper


class Meta(type):
    def __new__(mcs, name, bases, namespace):
        cls = super().__new__(mcs, name, bases, namespace)
        cls.events = defaultdict(list)
        for base in bases:
            for event, names in getattr(base, 'events', {}).items():
                cls.events[event].extend(names)
        for key, value in namespace.items():
            event = getattr(value, '_event', None)
            if event:
                cls.events[event].append(key)
        return cls


def on(event):
    def decorate(function):
        function._event = event
        return function
    return decorate


class Widget(metaclass=Meta):
    def fire(self, event, *args):
        return [getattr(self, name)(*args) for name in self.events.get(event, [])]

    @on('show')
    def shown(self):
        return 'shown'


class Button(Widget):
    @on('click')
    def clicked(self, x, y):
        return ('clicked', x, y)

    @on('show')
    def painted(self):
        return 'painted'


clicked = Signal()


@clicked.connect
@counted
def first(x, *, name='?'):
    """Says it first."""
    return f'{name}:{x}'


@clicked.connect(priority=5)
def urgent(x, **rest):
    return x * 2 if x < 10 else StopPropagation


print(clicked.emit(3, name='n'))
print(clicked.emit(30))
print(first.calls, first.__name__, first.__doc__)
button = Button()
print(button.fire('show'), button.fire('click', 1, 2), button.fire('none'))
print(dict(Widget.events), dict(Button.events), type(Button).__name__, isinstance(Button, Meta))
