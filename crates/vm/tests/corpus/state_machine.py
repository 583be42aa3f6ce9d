from enum import Enum
from typing import Callable, Dict, NamedTuple, Optional
class State(Enum):
    IDLE = "idle"
    RUNNING = "running"
    DONE = "done"
class Event(NamedTuple):
    name: str
    payload: int = 0
class Machine:
    table: Dict[State, Dict[str, State]] = {
        State.IDLE: {"start": State.RUNNING},
        State.RUNNING: {"tick": State.RUNNING, "stop": State.DONE},
        State.DONE: {},
    }
    def __init__(self) -> None:
        self.state = State.IDLE
        self.hooks: Dict[State, list] = {}
        self.log: list[str] = []
    def on(self, state: State) -> Callable:
        def register(function):
            self.hooks.setdefault(state, []).append(function)
            return function
        return register
    def fire(self, event: Event) -> Optional[State]:
        nxt = self.table[self.state].get(event.name)
        if nxt is None:
            self.log.append(f"ignored {event}")
            return None
        self.state = nxt
        for hook in self.hooks.get(nxt, []):
            hook(event)
        return nxt
m = Machine()
@m.on(State.RUNNING)
def running(event):
    m.log.append(f"running with {event.payload}")
@m.on(State.DONE)
def finished(event: Event) -> None:
    m.log.append("finished")
for e in (Event("tick"), Event("start", 1), Event("tick", 2), Event("stop"), Event("start")):
    print(e.name, m.fire(e))
print(*m.log, sep="\n")
print(State("done"), State.IDLE.value, [s.value for s in State], Event("x")._asdict(), Event("a") == ("a", 0))
