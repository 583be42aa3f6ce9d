"""Sets whose elements compare by their own methods, asked and combined with sets and with iterators."""
from dataclasses import dataclass


@dataclass(frozen=True)
class P:
    n: int


class A:
    def __hash__(self):
        return 1

    def __eq__(self, other):
        return other == 1

    def __repr__(self):
        return 'A'


print({P(1)}.isdisjoint({P(1)}), {P(1)}.isdisjoint({P(2)}), {P(1), P(2)}.isdisjoint(iter([P(2)])))
print(bool({P(1)} & {P(1)}), {P(1)} <= {P(1), P(2)}, {P(1)}.issuperset([P(1)]), {P(1)}.issubset(iter([P(3)])))
print({A()}.issubset(iter([1, 2])), {A()}.issuperset(iter([1])), {A()}.isdisjoint(iter([1, 2])), {A()}.isdisjoint(iter([2])))
print({A()}.symmetric_difference(iter([1, 2])), {A()}.union(iter([1, 2])), {A()}.difference(iter([1])))
s = {A(), 5}
s.symmetric_difference_update(iter([1, 6]))
print(s)
s = {P(1), P(2)}
s.symmetric_difference_update([P(2), P(3)])
print(sorted(p.n for p in s))
print({1, True, 2}, {True, 1, 2}, {1.0, 1}, {0, False})
