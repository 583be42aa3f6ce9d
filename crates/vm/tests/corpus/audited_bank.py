"""A small bank with audit trail."""
from __future__ import annotations
from collections import defaultdict, namedtuple
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import wraps, reduce
from typing import Callable, Iterable, Optional

class Kind(Enum):
    DEPOSIT = auto()
    WITHDRAW = auto()
    TRANSFER = auto()

class InsufficientFunds(Exception):
    def __init__(self, need: int, have: int):
        super().__init__(f"need {need}, have {have}")
        self.need, self.have = need, have

@dataclass(order=True)
class Entry:
    seq: int
    kind: Kind = field(compare=False)
    amount: int = field(compare=False, default=0)
    note: str = field(compare=False, default='', repr=False)

def audited(fn: Callable) -> Callable:
    @wraps(fn)
    def wrapper(self, *args, **kwargs):
        try:
            result = fn(self, *args, **kwargs)
        except InsufficientFunds as exc:
            self.log.append(('FAIL', fn.__name__, str(exc)))
            raise
        else:
            self.log.append(('OK', fn.__name__, args))
            return result
    return wrapper

class Account:
    _next = 1
    def __init__(self, owner: str):
        self.owner = owner
        self.entries: list[Entry] = []
        self.log: list[tuple] = []
        self.number = Account._next
        Account._next += 1
    @property
    def balance(self) -> int:
        signs = {Kind.DEPOSIT: 1, Kind.WITHDRAW: -1, Kind.TRANSFER: -1}
        return reduce(lambda acc, e: acc + signs[e.kind] * e.amount, self.entries, 0)
    @audited
    def deposit(self, amount: int, note: str = '') -> Account:
        if amount <= 0:
            raise ValueError('amount must be positive')
        self.entries.append(Entry(len(self.entries), Kind.DEPOSIT, amount, note))
        return self
    @audited
    def withdraw(self, amount: int) -> Account:
        if amount > self.balance:
            raise InsufficientFunds(amount, self.balance)
        self.entries.append(Entry(len(self.entries), Kind.WITHDRAW, amount))
        return self
    def __iter__(self): return iter(self.entries)
    def __len__(self): return len(self.entries)
    def __repr__(self): return f'<Account #{self.number} {self.owner!r}: {self.balance:,}>'
    def __format__(self, spec): return f'{self.owner:{spec}}' if spec else repr(self)

a = Account('alice').deposit(1_000).deposit(500, 'salary')
b = Account('bob')
print(a, b, f'{a:>10}|{b:^10}|{a}')
try:
    b.withdraw(5)
except InsufficientFunds as e:
    print('caught:', e, e.need, e.have)
for acc in (a, b):
    for status, name, details in acc.log:
        print(f'{acc.owner:<6}{status:>5} {name:<10}{details}')
print(a.withdraw(300).balance, len(a), max(a), sorted(a, reverse=True)[0], [e.kind.name for e in a], Account.deposit.__name__)
totals = defaultdict(int)
for e in a: totals[e.kind] += e.amount
print(dict(totals), sum(totals.values()))
Row = namedtuple('Row', 'name bal')
rows = [Row(x.owner, x.balance) for x in (a, b)]
print(*rows, sep='\n')
print(('%-10s %8d\n' * 2) % tuple(v for r in rows for v in r), end='')
try: a.deposit(-1)
except ValueError as e: print(type(e).__name__, e)
print(a.log[-1])
