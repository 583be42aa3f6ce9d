from abc import ABC, abstractmethod
from collections import defaultdict
from contextlib import contextmanager
from enum import Enum, auto


class Kind(Enum):
    DEPOSIT = auto()
    WITHDRAWAL = auto()
    TRANSFER = auto()
    INTEREST = auto()


class InsufficientFunds(Exception):
    def __init__(self, account, amount):
        super().__init__(f'{account.owner} has {account.balance}, needs {amount}')
        self.account = account
        self.amount = amount


class Account(ABC):
    count = 0

    def __init__(self, owner, balance=0):
        self.owner = owner
        self._balance = balance
        self.history = []
        type(self).count += 1

    @property
    def balance(self):
        return self._balance

    @balance.setter
    def balance(self, value):
        if value < self.floor():
            raise InsufficientFunds(self, self._balance - value)
        self._balance = value

    @abstractmethod
    def floor(self):
        ...

    def __repr__(self):
        return f'{type(self).__name__}({self.owner!r}, {self.balance})'

    def __lt__(self, other):
        return (self.balance, self.owner) < (other.balance, other.owner)


class Savings(Account):
    rate = 3

    def floor(self):
        return 0

    def accrue(self):
        interest = self.balance * self.rate // 100
        self.balance += interest
        self.history.append((Kind.INTEREST, interest))


class Credit(Account):
    def __init__(self, owner, limit):
        super().__init__(owner)
        self.limit = limit

    def floor(self):
        return -self.limit


class Bank:
    def __init__(self):
        self.accounts = {}
        self.log = defaultdict(list)

    def open(self, account):
        return self.accounts.setdefault(account.owner, account)

    @contextmanager
    def atomic(self, *accounts):
        before = [(account, account.balance, len(account.history)) for account in accounts]
        try:
            yield
        except InsufficientFunds as error:
            for account, balance, length in before:
                account._balance = balance
                del account.history[length:]
            self.log['failed'].append(str(error))

    def transfer(self, source, target, amount):
        a, b = self.accounts[source], self.accounts[target]
        with self.atomic(a, b):
            b.balance += amount
            b.history.append((Kind.TRANSFER, amount))
            a.balance -= amount
            a.history.append((Kind.TRANSFER, -amount))
            self.log['done'].append((source, target, amount))


bank = Bank()
ann = bank.open(Savings('ann', 100))
bob = bank.open(Credit('bob', 50))
cid = bank.open(Savings('cid'))
bank.transfer('ann', 'bob', 30)
bank.transfer('bob', 'cid', 75)
bank.transfer('bob', 'cid', 75)
bank.transfer('cid', 'ann', 5)
ann.accrue()
print(sorted(bank.accounts.values()))
print(dict(bank.log))
for account in bank.accounts.values():
    print(account, [(kind.name, amount) for kind, amount in account.history])
print(Savings.count, Credit.count, Account.count)
try:
    Account('nobody')
except TypeError as error:
    print('TypeError')
try:
    bob.balance = -1000
except InsufficientFunds as error:
    print(error, error.amount, error.account is bob)
