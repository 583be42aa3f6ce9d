"""A treasury: members propose payments and vote on them; what a quorum wants is paid, if trusted runners find it in
order.

Deployed with {"members": [address, …], "quorum": 2, "check": url, "trusted": [address of a runner, …]}, and with
the money. It owns a pool of runners, and only those are drawn for its jobs: the ones that it was deployed with, and
whom members have let in by vote since; whom they put out is drawn no more. Before anything is paid, three runners of
the pool look the proposal up at the check's address, and two of them have to find the same under "approved".

A payment that is not approved, or that runners do not agree on, is held; `again` has it looked at once more.
"""

import cowboy
from cowboy import runner, storage, verify

CBY = 1_000_000_000


def init(message):
    storage["members"] = message["members"]
    storage["quorum"] = message["quorum"]
    storage["check"] = message["check"]
    storage["proposals"] = 0
    if not 1 <= message["quorum"] <= len(message["members"]):
        raise ValueError("a quorum is between one and all of the members")
    cowboy.create_pool(_pool())
    for trusted in message.get("trusted") or []:
        _admit(trusted)


def _pool():
    # With its own address in the name nobody has that pool already.
    return b"treasury:" + cowboy.address()


def _admit(trusted):
    if cowboy.is_member(_pool(), trusted):
        raise ValueError("it is trusted already")
    storage[b"trusted:" + trusted] = cowboy.admit(_pool(), trusted)


def _expel(trusted):
    membership = storage[b"trusted:" + trusted]
    if membership is None or not cowboy.is_member(_pool(), trusted):
        raise ValueError("it is not trusted")
    cowboy.revoke(membership)
    storage.delete(b"trusted:" + trusted)


def _member():
    caller = cowboy.caller()
    if caller not in storage["members"]:
        raise PermissionError("only members can do this")
    return caller


def _proposal(number):
    proposal = storage["proposal:" + str(number)]
    if proposal is None:
        raise KeyError(number)
    return proposal


def _set(number, proposal, state, why=""):
    proposal["state"] = state
    storage["proposal:" + str(number)] = proposal
    cowboy.emit(state, {"proposal": number, "why": why})


def propose(message):
    # {"to": address, "amount": base units, "why": text}
    if not isinstance(message["amount"], int) or message["amount"] <= 0:
        raise ValueError("an amount is a whole number above zero")
    return _open({"to": message["to"], "amount": message["amount"]}, message["why"])


def propose_runner(message):
    # {"runner": address, "trusted": whether it shall be, "why": text}
    return _open({"runner": message["runner"], "trusted": message["trusted"]}, message["why"])


def _open(proposal, why):
    _member()
    number = storage["proposals"]
    storage["proposals"] = number + 1
    proposal["why"] = why
    proposal["votes"] = []
    _set(number, proposal, "open", why)
    return number


async def vote(message):
    # {"proposal": number}; the vote that makes the quorum also lets the runner in or out, or has the payment checked.
    member = _member()
    number = message["proposal"]
    proposal = _proposal(number)
    if proposal["state"] != "open":
        raise ValueError("the vote is over: " + proposal["state"])
    if member in proposal["votes"]:
        raise ValueError("one vote each")
    proposal["votes"].append(member)
    if len(proposal["votes"]) < storage["quorum"]:
        storage["proposal:" + str(number)] = proposal
        return len(proposal["votes"])
    if "runner" in proposal:
        (_admit if proposal["trusted"] else _expel)(proposal["runner"])
        _set(number, proposal, "done")
        return None
    return await _pay(number, proposal)


async def again(message):
    # {"proposal": number}
    _member()
    proposal = _proposal(message["proposal"])
    if proposal["state"] != "held":
        raise ValueError("it is not held: " + proposal["state"])
    return await _pay(message["proposal"], proposal)


async def _pay(number, proposal):
    # From here on nobody else can pay it: what is written before the wait is there during it.
    _set(number, proposal, "checking")
    job = runner.http(
        storage["check"] + "?proposal=" + str(number),
        extract="approved",
        verify=verify.majority("value", runners=3, threshold=2),
        max_price=3 * CBY,
        required_runner_pool=_pool(),
    )
    try:
        found = await job
        if found["value"] is not True:
            raise cowboy.Failed("it is not approved")
        cowboy.transfer(proposal["to"], proposal["amount"])
    except cowboy.HostError as error:
        _set(number, proposal, "held", str(error))
        return None
    _set(number, proposal, "paid")
    return proposal["amount"]
