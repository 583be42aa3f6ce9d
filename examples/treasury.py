"""A treasury: members propose payments and vote on them; what a quorum wants is paid, if runners find it in order.

Deployed with {"members": [address, …], "quorum": 2, "check": url, "trusted": [address of a runner, …]}, and with
the money. Before anything is paid, three runners look the proposal up at the check's address, and two of them have
to find the same under "approved". The chain says whose document a result is: the first of those that agree. Where
trusted runners are named, only a document of one of them counts; the others that agree may be anybody, because
the chain does not hand their names to an actor.

A payment that is not approved, or that runners do not agree on, is held; `again` has it looked at once more.
"""

import cowboy
from cowboy import runner, storage, verify

CBY = 1_000_000_000


def init(message):
    storage["members"] = message["members"]
    storage["quorum"] = message["quorum"]
    storage["check"] = message["check"]
    storage["trusted"] = message.get("trusted") or []
    storage["proposals"] = 0
    if not 1 <= message["quorum"] <= len(message["members"]):
        raise ValueError("a quorum is between one and all of the members")


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
    _member()
    if not isinstance(message["amount"], int) or message["amount"] <= 0:
        raise ValueError("an amount is a whole number above zero")
    number = storage["proposals"]
    storage["proposals"] = number + 1
    proposal = {"to": message["to"], "amount": message["amount"], "why": message["why"], "votes": []}
    _set(number, proposal, "open", message["why"])
    return number


async def vote(message):
    # {"proposal": number}; the vote that makes the quorum also has the payment checked.
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
    )
    try:
        done = await cowboy.await_job(job.submit())
        if storage["trusted"] and done["runner"] not in storage["trusted"]:
            raise cowboy.Failed("the answer is not of a trusted runner")
        if runner.read_json(done["result"])["value"] is not True:
            raise cowboy.Failed("it is not approved")
        cowboy.transfer(proposal["to"], proposal["amount"])
    except cowboy.HostError as error:
        _set(number, proposal, "held", str(error))
        return None
    _set(number, proposal, "paid")
    return proposal["amount"]
