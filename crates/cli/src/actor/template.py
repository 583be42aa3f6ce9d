"""A counter: adds what it is told, remembers who told it last, and wakes itself up when asked to."""

import cowboy
from cowboy import storage


def init(message):
    # Runs once, when the actor is deployed.
    storage["count"] = 0


def add(message):
    # Callers send a value; here an object like {"by": 2}.
    by = message.get("by", 1) if isinstance(message, dict) else 1
    storage["count"] = storage["count"] + by
    storage["last"] = cowboy.caller()
    cowboy.emit("added", {"by": by, "count": storage["count"]})
    return storage["count"]


async def add_later(message):
    # An await may take many blocks: the call is kept on the chain until its answer is there. The actor pays
    # for going on, from its own money.
    await cowboy.sleep_until(cowboy.height() + message.get("blocks", 5))
    return add(message)


def on_timer(message):
    # What `cowboy.schedule_timer(height, payload)` leads to.
    cowboy.emit("woken", message["height"])
