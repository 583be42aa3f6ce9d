x = 'global'


def outer():
    x = 'outer'

    def middle():
        def inner():
            nonlocal x
            x = x + '+inner'
            return x
        return inner

    inner = middle()
    return inner(), x, inner(), x


print(outer(), x)
adders = [lambda n, k=k: n + k for k in range(3)]
late = [lambda n: n + k for k in range(3)]
print([f(10) for f in adders], [f(10) for f in late])


def make_account(balance):
    def deposit(amount):
        nonlocal balance
        balance += amount
        return balance

    def withdraw(amount):
        nonlocal balance
        if amount > balance:
            return 'no'
        balance -= amount
        return balance

    return {'deposit': deposit, 'withdraw': withdraw, 'balance': lambda: balance}


a, b = make_account(10), make_account(100)
print(a['deposit'](5), b['withdraw'](1), a['withdraw'](50), a['balance'](), b['balance']())


def counter():
    counter.count = getattr(counter, 'count', 0) + 1
    return counter.count


print(counter(), counter(), counter.count)


def change():
    global x, fresh
    x = 'changed'
    fresh = [1]


change()
print(x, fresh)


def unbound():
    try:
        print(y)
    except UnboundLocalError as error:
        print('unbound')
    y = 1
    del y
    try:
        y
    except UnboundLocalError:
        print('deleted')


unbound()


class Scope:
    x = 'class'
    seen = [x for _ in range(1)]
    y = x + '!'

    def method(self):
        return x, self.x, Scope.y


print(Scope().method(), Scope.seen)
print([x for x in range(3)], x, {n: (lambda: n)() for n in 'ab'}, [(i, j) for i in range(3) for j in range(i)])
print((total := sum(range(5))), total, [last := n for n in (1, 2, 3)], last)
def defaults(items=[], *, table={}):
    items.append(len(items))
    table[len(items)] = True
    return items, table
print(defaults(), defaults(), defaults([9]), defaults.__defaults__)
def everything(a, b=2, /, c=3, *args, d, e=5, **rest):
    return a, b, c, args, d, e, rest
print(everything(1, d=4), everything(1, 2, 3, 4, 5, d=6, z=7), everything(*[1, 2], **{'d': 1, 'c': 9}))
for bad in (lambda: everything(), lambda: everything(1), lambda: everything(a=1, d=2)):
    try:
        bad()
    except TypeError as error:
        print(error)
compose = lambda *fs: lambda x: [x := f(x) for f in fs][-1]
print(compose(lambda x: x + 1, lambda x: x * 2)(5))
y = lambda f: (lambda x: f(lambda v: x(x)(v)))(lambda x: f(lambda v: x(x)(v)))
print(y(lambda self: lambda n: 1 if n < 2 else n * self(n - 1))(6))
