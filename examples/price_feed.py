"""A price feed: asks three runners every N blocks, and acts on the median of what they say.

Deployed with {"url": …, "every": 20, "alarm_below": 100}. The answer is JSON with a field "price". Each
question goes to a runner of its own; one that lies or fails moves the median by little.
"""

import cowboy
from cowboy import runner, storage

CBY = 1_000_000_000


def init(message):
    storage["url"] = message["url"]
    storage["every"] = message.get("every", 20)
    storage["alarm_below"] = message.get("alarm_below", 0)
    _again()


def _again():
    # Three jobs and a call that waits take more than a timer has unless it says so.
    due = cowboy.height() + storage["every"]
    cowboy.schedule_timer(due, "tick", gas_limit=200_000, max_cells=16_384)


async def on_timer(message):
    # First the next round: whatever goes wrong in this one, the feed goes on.
    _again()
    await update(message)


async def update(message):
    url = storage["url"]
    asked = [runner.http(url, extract="price", max_price=CBY) for _ in range(3)]
    answers = await cowboy.gather(*asked, return_exceptions=True)
    prices = sorted(float(answer["value"]) for answer in answers if not isinstance(answer, Exception))
    if len(prices) < 2:
        cowboy.emit("no price", len(prices))
        return None
    price = prices[(len(prices) - 1) // 2]
    storage["price"] = price
    storage["height"] = cowboy.height()
    cowboy.emit("price", price)
    if price < storage["alarm_below"]:
        cowboy.emit("alarm", price)
    return price


def latest(message):
    return {"price": storage["price"], "height": storage["height"]}
