"""Tests of the counter that `remuda actor new` writes."""


def test_it_counts():
    counter = chain.deploy("counter.py")
    assert counter.add({"by": 2}) == 2
    assert counter.add({"by": 3}) == 5
    assert chain.state(counter, "count") == 5
    assert chain.events(counter) == [("added", {"by": 2, "count": 2}), ("added", {"by": 3, "count": 5})]


def test_it_remembers_who_came_last():
    counter = chain.deploy("counter.py")
    counter.add({"by": 1}, sender="ann")
    assert chain.state(counter, "last") == chain.account("ann")


def test_it_adds_later():
    # Waiting costs money, which is the actor's own.
    counter = chain.deploy("counter.py", value=10 * chain.CBY)
    counter.add_later({"by": 4, "blocks": 5})
    assert chain.waiting(counter) == 1
    assert chain.state(counter, "count") == 0
    chain.blocks(6)
    assert chain.state(counter, "count") == 4
    assert chain.waiting(counter) == 0
