from enum import Enum
from functools import partial


class State(Enum):
    IDLE = 'idle'
    RUNNING = 'running'
    PAUSED = 'paused'
    DONE = 'done'


class Transition(Exception):
    pass


class Machine:
    table = {
        (State.IDLE, 'start'): State.RUNNING,
        (State.RUNNING, 'pause'): State.PAUSED,
        (State.PAUSED, 'resume'): State.RUNNING,
        (State.RUNNING, 'finish'): State.DONE,
    }

    def __init__(self):
        self.state = State.IDLE
        self.hooks = {}
        self.trail = [self.state.value]

    def on(self, state):
        def register(function):
            self.hooks.setdefault(state, []).append(function)
            return function
        return register

    def __getattr__(self, name):
        if any(event == name for _, event in self.table):
            return partial(self.fire, name)
        raise AttributeError(f'{type(self).__name__} has no event {name}')

    def fire(self, event, *args):
        try:
            self.state = self.table[self.state, event]
        except KeyError:
            raise Transition(f'{event} while {self.state.value}') from None
        self.trail.append(self.state.value)
        return [hook(event, *args) for hook in self.hooks.get(self.state, [])]


machine = Machine()


@machine.on(State.RUNNING)
def announce(event, *args):
    return f'{event}{args}'


@machine.on(State.RUNNING)
@machine.on(State.DONE)
def count(event, *args):
    return len(machine.trail)


print(machine.start(1), machine.pause(), machine.resume(), machine.finish('x'))
print(machine.trail)
for name in ('start', 'explode'):
    try:
        getattr(machine, name)()
    except (Transition, AttributeError) as error:
        print(type(error).__name__, error)


def tokenizer():
    state, buffer, tokens = 'start', '', []
    while True:
        char = yield tokens
        tokens = []
        match state, char:
            case ('start', c) if c.isdigit():
                state, buffer = 'number', c
            case ('start', '"'):
                state, buffer = 'string', ''
            case ('start', c) if c.isspace():
                pass
            case ('start', c):
                tokens.append(('symbol', c))
            case ('number', c) if c.isdigit() or c == '.':
                buffer += c
            case ('number', c):
                tokens.append(('number', float(buffer) if '.' in buffer else int(buffer)))
                state = 'start'
                if not c.isspace():
                    tokens.append(('symbol', c))
            case ('string', '"'):
                tokens.append(('string', buffer))
                state = 'start'
            case ('string', c):
                buffer += c


t = tokenizer()
next(t)
print([token for char in '12+3.5*"hi there" - 7;' for token in t.send(char)])


def elevator(requests, floor=0):
    direction, log = 1, []
    pending = set(requests)
    while pending:
        ahead = [f for f in pending if (f - floor) * direction >= 0]
        if not ahead:
            direction = -direction
            continue
        floor = min(ahead, key=lambda f: abs(f - floor))
        pending.discard(floor)
        log.append((floor, 'up' if direction > 0 else 'down'))
    return log


print(elevator([3, 1, 7, -2, 5, 0], 2))
