"""Tests of price_feed.py: `remuda actor test examples/test_price_feed.py`."""

SETTINGS = {"url": "https://prices.example/cby", "every": 20, "alarm_below": 100}


def deployed():
    return chain.deploy("price_feed.py", SETTINGS, value=100 * chain.CBY)


def price(value):
    # What a runner delivers for a web request with a field to extract.
    return {"status": 200, "value": value}


def test_it_asks_three_runners_and_takes_the_median():
    feed = deployed()
    assert chain.jobs() == []
    chain.blocks(20)
    jobs = chain.jobs(feed)
    assert len(jobs) == 3
    assert jobs[0].spec["job_type"]["Http"]["url"] == SETTINGS["url"]
    # The second one lies.
    for job, said in zip(jobs, [101.5, 9000, 101]):
        chain.answer(job, price(said))
    assert feed.latest()["price"] == 101.5
    assert chain.events(feed) == [("price", 101.5)]


def test_a_low_price_is_an_alarm():
    feed = deployed()
    feed.update({})
    for job in chain.jobs(feed):
        chain.answer(job, price(99))
    assert chain.events(feed, "alarm") == [("alarm", 99.0)]


def test_without_two_answers_there_is_no_price_and_the_feed_goes_on():
    feed = deployed()
    chain.blocks(20)
    first, second, third = chain.jobs(feed)
    chain.answer(first, price(101))
    chain.answer(second, {"error": "timeout", "detail": "the site is down"})
    chain.answer(third, {"error": "timeout", "detail": "the site is down"})
    assert chain.events(feed) == [("no price", 1)]
    assert chain.state(feed, "price") is None
    chain.blocks(20)
    assert len(chain.jobs(feed)) == 3
