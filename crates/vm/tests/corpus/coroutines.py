class Sleep:
    def __init__(self, value):
        self.value = value
    def __await__(self):
        got = yield self.value
        return got
async def child(n):
    got = await Sleep(n)
    return got * 2
async def main(n):
    total = 0
    for i in range(n):
        try:
            total += await child(i)
        except ValueError as error:
            print("caught", error)
            total += 100
    return total
def drive(coroutine, answers):
    sent = None
    while True:
        try:
            asked = coroutine.send(sent)
        except StopIteration as stop:
            return stop.value
        print("asked", asked)
        sent = answers.get(asked, 1)
print(drive(main(3), {0: 10, 1: 20}))
c = main(2)
print(c.send(None))
print(c.throw(ValueError("no")))
try:
    c.send(7)
except StopIteration as stop:
    print("total", stop.value)
try:
    c.send(None)
except RuntimeError as error:
    print(error)
async def fails():
    await child(1)
    raise KeyError("end")
f = fails()
f.send(None)
try:
    f.send(3)
except KeyError as error:
    print("key", error)
