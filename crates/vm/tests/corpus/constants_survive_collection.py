# Constants that no variable holds while the collector runs.
def fill(n):
    for i in range(n):
        x = [i, [i], {'k': i}]
    return 123456789012345678901234567890, b'constant'


def keyword(*, left, right):
    return left + right


print(fill(30000))
print(fill(30000))
print(keyword(left=1, right=2))
fill(30000)
print(keyword(left=3, right=4))
