# Functions of floats to their last digit.
import math

state = 12345


def draw():
    global state
    state = (state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
    return (state >> 11) / (1 << 53)


FUNCTIONS = (
    ('exp', math.exp, -20, 20), ('exp of whole', lambda v: math.exp(int(v)), -20, 20),
    ('log', math.log, 0.001, 1000),
    ('power', lambda v: v ** 2.5, 0, 10),
    ('growth', lambda v: 1.05 ** v, 0, 30), ('inverse cube', lambda v: v ** -3, 0.1, 5),
    ('tenth', lambda v: v ** 10, 0.9, 1.2), ('cube root', lambda v: math.pow(v, 1 / 3), 0, 100),
    ('length', lambda v: math.hypot(v, 3), 0, 10), ('length of three', lambda v: math.hypot(v, 3, 5), 0, 10),
    ('interest', lambda v: (1 + int(v) / 100) ** int(v), 0, 30),
)
for name, function, low, high in FUNCTIONS:
    print(name, [function(low + (high - low) * draw()) for _ in range(25)])
ANGLES = [draw() * 10 - 5 for _ in range(20)]
for function in (math.sin, math.cos, math.tan, math.atan, math.sinh, math.cosh, math.tanh):
    print([f'{function(angle):.13g}' for angle in ANGLES])
print(math.exp(1), math.exp(0.5), math.log(2), math.log(10), math.log(10 ** 40), math.sin(math.pi), math.cos(math.pi / 2))
print(2 ** 0.5, 2 ** 0.1, 10 ** -3.5, 1.1 ** 2, (-2.5) ** 3, (-2.5) ** -3, 0.1 ** 20, 1e200 ** 1.5, 5e-324 ** 0.5)
print(math.hypot(3, 4), math.hypot(1e300, 1e300), math.hypot(5e-324, 0), math.dist((1, 2, 3), (4, 6, 8)), math.hypot())
print(1000 * (1 + 0.05 / 12) ** 120, sum(1 / math.factorial(k) for k in range(18)), math.e ** math.pi, math.pi ** math.e)
