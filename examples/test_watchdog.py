"""Tests of watchdog.py: `remuda actor test examples/test_watchdog.py`."""


def deployed(**settings):
    # With money: it pays for its timers.
    return chain.deploy("watchdog.py", settings, value=10 * chain.CBY)


def test_it_barks_when_nobody_is_alive():
    dog = deployed(patience=20)
    chain.blocks(25)
    assert chain.state(dog, "barks") == 1
    topic, bark = chain.events(dog)[0]
    assert topic == "bark"
    assert bark["barks"] == 1


def test_it_is_quiet_while_somebody_is():
    dog = deployed(patience=20)
    for _ in range(4):
        assert dog.alive({}, sender="ann") == chain.height() + 20
        chain.blocks(15)
    assert chain.events(dog) == []


def test_only_the_one_it_watches_counts():
    dog = deployed(watched=chain.account("ann"))
    with chain.raises("PermissionError") as caught:
        dog.alive({}, sender="bob")
    assert caught.error.message == "somebody else is watched"
    dog.alive({}, sender="ann")


def test_it_can_pay_for_all_its_barks_and_then_gives_up():
    dog = deployed(patience=10)
    chain.blocks(150)
    assert len(chain.events(dog, "bark")) == 8


def test_nobody_makes_it_bark():
    dog = deployed()
    with chain.raises("PermissionError"):
        dog.on_timer({})


def test_calm_ends_the_barking():
    dog = deployed(patience=10)
    chain.blocks(25)
    barks = dog.calm({})
    assert barks == len(chain.events(dog, "bark"))
    chain.blocks(50)
    assert chain.state(dog, "barks") == barks
