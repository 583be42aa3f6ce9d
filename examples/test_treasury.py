"""Tests of treasury.py: `remuda actor test examples/test_treasury.py`."""

APPROVED = {"status": 200, "value": True}
REFUSED = {"status": 200, "value": False}
UNKNOWN = {"status": 404, "value": "no such proposal"}


def founded(trusted=None):
    # With some runners of this chain, unless others are named.
    trusted = chain.runners()[:5] if trusted is None else trusted
    members = [chain.account(name) for name in ("ann", "bob", "cem")]
    settings = {"members": members, "quorum": 2, "check": "https://dao.example/check", "trusted": trusted}
    return chain.deploy("treasury.py", settings, value=100 * chain.CBY)


def proposed(treasury, cby=5):
    # A proposal that a quorum is for; its check is the open job.
    payment = {"to": chain.account("dan"), "amount": cby * chain.CBY, "why": "the website"}
    number = treasury.propose(payment, sender="ann")
    assert treasury.vote({"proposal": number}, sender="ann") == 1
    assert chain.jobs(treasury) == []
    treasury.vote({"proposal": number}, sender="bob")
    return number


def state_of(treasury, number):
    return chain.state(treasury, "proposal:" + str(number))["state"]


def test_a_quorum_and_agreeing_runners_pay():
    treasury = founded()
    before = chain.balance("dan")
    number = proposed(treasury)
    assert state_of(treasury, number) == "checking"
    job = chain.jobs(treasury)[0]
    assert job.spec["job_type"]["Http"]["url"] == "https://dao.example/check?proposal=0"
    assert chain.answer(job, [APPROVED, REFUSED, APPROVED]) == "settled"
    assert state_of(treasury, number) == "paid"
    assert chain.balance("dan") == before + 5 * chain.CBY


def test_runners_that_disagree_hold_the_payment_until_it_is_tried_again():
    treasury = founded()
    before = chain.balance("dan")
    number = proposed(treasury)
    assert chain.answer(chain.jobs(treasury)[0], [APPROVED, REFUSED, UNKNOWN]) == "failed: no agreement"
    assert state_of(treasury, number) == "held"
    assert chain.balance("dan") == before
    treasury.again({"proposal": number}, sender="cem")
    chain.answer(chain.jobs(treasury)[0], APPROVED)
    assert state_of(treasury, number) == "paid"


def test_what_is_not_approved_is_not_paid():
    treasury = founded()
    number = proposed(treasury)
    chain.answer(chain.jobs(treasury)[0], REFUSED)
    assert chain.events(treasury, "held") == [("held", {"proposal": number, "why": "it is not approved"})]


def decided(treasury, runner, trusted):
    # A quorum lets a runner in, or puts it out.
    number = treasury.propose_runner({"runner": runner, "trusted": trusted, "why": "we know it"}, sender="ann")
    treasury.vote({"proposal": number}, sender="ann")
    treasury.vote({"proposal": number}, sender="bob")
    return number


def test_without_trusted_runners_nobody_is_drawn_and_nothing_is_paid():
    treasury = founded(trusted=[])
    number = proposed(treasury)
    chain.blocks(5)
    assert chain.jobs(treasury) == []
    assert state_of(treasury, number) == "held"
    for runner in chain.runners()[:3]:
        assert state_of(treasury, decided(treasury, runner, True)) == "done"
    # The last one accepts in the next block.
    chain.blocks(1)
    treasury.again({"proposal": number}, sender="cem")
    chain.answer(chain.jobs(treasury)[0], APPROVED)
    assert state_of(treasury, number) == "paid"


def test_only_trusted_runners_are_drawn():
    trusted = chain.runners()[:4]
    treasury = founded(trusted=trusted)
    decided(treasury, trusted[3], False)
    for _ in range(3):
        proposed(treasury)
        chain.blocks(6)
        job = chain.jobs(treasury)[0]
        assert sorted(job.runners) == sorted(trusted[:3])
        chain.answer(job, APPROVED)


def test_a_vote_on_a_runner_that_changes_nothing_fails():
    treasury = founded()
    runner = chain.runners()[0]
    number = treasury.propose_runner({"runner": runner, "trusted": True, "why": "again"}, sender="ann")
    treasury.vote({"proposal": number}, sender="ann")
    with chain.raises("ValueError") as caught:
        treasury.vote({"proposal": number}, sender="bob")
    assert caught.error.message == "it is trusted already"


def test_only_who_is_a_runner_can_be_trusted():
    treasury = founded()
    number = treasury.propose_runner({"runner": chain.account("dan"), "trusted": True, "why": "?"}, sender="ann")
    treasury.vote({"proposal": number}, sender="ann")
    with chain.raises("NotFound"):
        treasury.vote({"proposal": number}, sender="bob")


def test_only_members_vote_and_each_once():
    treasury = founded()
    number = treasury.propose({"to": chain.account("dan"), "amount": 1, "why": "tea"}, sender="ann")
    with chain.raises("PermissionError"):
        treasury.vote({"proposal": number}, sender="dan")
    treasury.vote({"proposal": number}, sender="ann")
    with chain.raises("ValueError") as caught:
        treasury.vote({"proposal": number}, sender="ann")
    assert caught.error.message == "one vote each"


def test_it_cannot_pay_what_it_does_not_have():
    treasury = founded()
    number = proposed(treasury, cby=1000)
    chain.answer(chain.jobs(treasury)[0], APPROVED)
    assert state_of(treasury, number) == "held"
