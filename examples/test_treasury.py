"""Tests of treasury.py: `remuda actor test examples/test_treasury.py`."""

APPROVED = {"status": 200, "value": True}
REFUSED = {"status": 200, "value": False}
UNKNOWN = {"status": 404, "value": "no such proposal"}


def founded(trusted=()):
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


def test_only_trusted_runners_are_believed():
    strangers = founded(trusted=[chain.account("somebody else")])
    number = proposed(strangers)
    chain.answer(chain.jobs(strangers)[0], APPROVED)
    assert state_of(strangers, number) == "held"
    friends = founded(trusted=chain.runners())
    number = proposed(friends)
    chain.answer(chain.jobs(friends)[0], APPROVED)
    assert state_of(friends, number) == "paid"


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
