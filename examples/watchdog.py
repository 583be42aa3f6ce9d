"""A watchdog: whoever it watches has to say "alive" in time; if not, it barks, and bids more for each bark.

Deployed with {"watched": bytes or nothing, "patience": 20}. The first one to call `alive` is watched if
nobody was named. Timers of a congested lane fire by their tip, so each bark that is not answered by
`calm` offers twice the fee of the one before.
"""

import cowboy
from cowboy import storage

FEE = 1_000
BARKS_MAX = 8
# What a bark needs: the whole of it must be there when the timer is due, what is not used comes back.
CYCLES = 30_000


def init(message):
    message = message if isinstance(message, dict) else {}
    storage["watched"] = message.get("watched")
    storage["patience"] = message.get("patience", 20)
    storage["barks"] = 0
    _watch(FEE)


def _watch(fee):
    due = cowboy.height() + storage["patience"]
    storage["timer"] = cowboy.schedule_timer(
        due, "late", gas_limit=CYCLES, max_fee_per_cycle=fee * 2, max_priority_fee_per_cycle=fee
    )


def alive(message):
    if storage["watched"] is None:
        storage["watched"] = cowboy.caller()
    if cowboy.caller() != storage["watched"]:
        raise PermissionError("somebody else is watched")
    try:
        cowboy.cancel_timer(storage["timer"])
    except cowboy.HostError:
        pass  # It has fired already.
    storage["barks"] = 0
    _watch(FEE)
    return cowboy.height() + storage["patience"]


def on_timer(message):
    if cowboy.caller() != cowboy.address():
        raise PermissionError("only its own timers make it bark")
    barks = storage["barks"] + 1
    storage["barks"] = barks
    cowboy.emit("bark", {"barks": barks, "height": cowboy.height()})
    if barks < BARKS_MAX:
        _watch(FEE * 2 ** barks)


def calm(message):
    # Somebody, whoever that is, looks after it: no more barks until it is alive again.
    try:
        cowboy.cancel_timer(storage["timer"])
    except cowboy.HostError:
        pass
    return storage["barks"]
