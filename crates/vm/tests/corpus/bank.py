class InsufficientFunds(Exception):
    def __init__(self, need, have):
        super().__init__(f"need {need}, have {have}")
        self.need = need
        self.have = have

class Account:
    count = 0
    def __init__(self, owner, balance=0):
        self.owner = owner
        self.__balance = balance
        self.history = []
        Account.count += 1
    @property
    def balance(self):
        return self.__balance
    @balance.setter
    def balance(self, value):
        if value < 0:
            raise InsufficientFunds(-value, self.__balance)
        self.history.append(value - self.__balance)
        self.__balance = value
    def __repr__(self):
        return f"{type(self).__name__}({self.owner!r}, {self.balance})"
    def __lt__(self, other):
        return self.balance < other.balance
    def __iadd__(self, amount):
        self.balance += amount
        return self

class Savings(Account):
    def __init__(self, owner, balance=0, rate=0.05):
        super().__init__(owner, balance)
        self.rate = rate
    def accrue(self):
        self.balance = round(self.balance * (1 + self.rate), 2)

a = Account("ann", 100)
b = Savings("bob", 200)
a += 50
b.accrue()
print(a, b, Account.count, sorted([b, a]), max(a, b))
try:
    a.balance -= 500
except InsufficientFunds as error:
    print("refused:", error, error.need, error.have, error.args)
print(a.history, b.history, hasattr(a, "rate"), getattr(b, "rate", None), getattr(a, "rate", "none"))
print(isinstance(b, Account), issubclass(Savings, Account), Savings.__mro__[1].__name__, Savings.__name__)
try:
    a.__balance
except AttributeError as error:
    print(error)
