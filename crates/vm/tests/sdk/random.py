from cowboy_sdk import pvm_random


def draw():
    print([pvm_random.getrandbits(bits) for bits in (0, 1, 7, 8, 9, 53, 64, 200)])
    print(pvm_random.random(), pvm_random.uniform(-3, 8), pvm_random.randbytes(5), pvm_random.randbytes(0), pvm_random.randbytes(100))
    print([pvm_random.randint(1, 6) for _ in range(20)], [pvm_random.randrange(10) for _ in range(10)])
    print([pvm_random.randrange(5, 50, 7) for _ in range(10)], [pvm_random.randrange(50, 5, -7) for _ in range(10)])
    items = list('abcdefghij')
    pvm_random.shuffle(items)
    print(items, pvm_random.choice(items), pvm_random.sample(items, 4), pvm_random.sample(range(5), 5))


draw()
for seed in [None, 0, 1, 127, 70000, -1, -129, 'text', b'bytes', bytearray(b'array')]:
    pvm_random.seed(seed)
    state = pvm_random.getstate()
    print(state[1])
    draw()
    after = pvm_random.getstate()
    first = pvm_random.random()
    pvm_random.setstate(after)
    print(first == pvm_random.random(), after[2], after[4])
WRONG = [lambda: pvm_random.seed(1.5), lambda: pvm_random.setstate(5), lambda: pvm_random.setstate((2, b'', 0, b'', 0)),
         lambda: pvm_random.setstate((1, 'x', 0, b'', 0)), lambda: pvm_random.setstate((1, b'', 0, b'', 3)),
         lambda: pvm_random.choice([]), lambda: pvm_random.randint(3, 2), lambda: pvm_random.randrange(0),
         lambda: pvm_random.randrange(1, 5, 0), lambda: pvm_random.sample([1], 2), lambda: pvm_random.getrandbits(-1)]
for wrong in WRONG:
    try:
        wrong()
    except (ValueError, TypeError, IndexError) as error:
        print(type(error).__name__)
