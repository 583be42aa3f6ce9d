def gen():
    x = yield 1
    while x: x = yield x*2
g=gen(); print(next(g)); print(g.send(5)); 
try: g.send(0)
except StopIteration as e: print('stop', e.value)
