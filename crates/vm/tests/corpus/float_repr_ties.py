# Values that lie in the middle between two shortest representations: the even one is shown.
print(0.167621612548828125, 1.1920928955078125e-07, 2.0**-30, 5e-324, 2.0**70, 9007199254740993.0)
for shift in range(1, 70):
    value = 1 + 2.0**-shift
    print(value, value / 1024, value * 3e5, -value / 7, 123456789.0 * 2.0**-shift)
numbers = [0.1 * n for n in range(30)] + [1 / n for n in range(1, 40)] + [2.0**n / 3 for n in range(-40, 60, 7)]
print(numbers)
print([float(repr(n)) == n for n in numbers].count(False))
for exponent in range(-6, 19):
    power = float('1e%d' % exponent)
    print(1.5 * power, -1.0 * power, 123.456 * power)
state = 12345
for _ in range(300):
    state = (state * 1103515245 + 12345) % 2**31
    other = (state * 1103515245 + 12345) % 2**31
    print(state / other, state * 2.0**-(other % 60))
