from bisect import bisect_left
from functools import reduce
from itertools import groupby, pairwise


class Interval:
    __slots__ = ('low', 'high')

    def __init__(self, low, high):
        if low > high:
            raise ValueError(f'empty interval {low}..{high}')
        self.low, self.high = low, high

    def __repr__(self):
        return f'[{self.low}, {self.high})'

    def __eq__(self, other):
        return (self.low, self.high) == (other.low, other.high)

    def __lt__(self, other):
        return (self.low, self.high) < (other.low, other.high)

    def __hash__(self):
        return hash((self.low, self.high))

    def __len__(self):
        return self.high - self.low

    def __contains__(self, x):
        return self.low <= x < self.high

    def __and__(self, other):
        low, high = max(self.low, other.low), min(self.high, other.high)
        return Interval(low, high) if low < high else None

    def __or__(self, other):
        if self.high < other.low or other.high < self.low:
            raise ValueError('apart')
        return Interval(min(self.low, other.low), max(self.high, other.high))


def merge(intervals):
    out = []
    for interval in sorted(intervals):
        if out and out[-1].high >= interval.low:
            out[-1] = out[-1] | interval
        else:
            out.append(interval)
    return out


def gaps(intervals):
    return [Interval(a.high, b.low) for a, b in pairwise(merge(intervals))]


def busiest(intervals):
    events = sorted([(i.low, 1) for i in intervals] + [(i.high, -1) for i in intervals])
    level = best = 0
    for place, group in groupby(events, key=lambda event: event[0]):
        level += sum(change for _, change in group)
        if level > best:
            best, where = level, place
    return best, where


def rooms(intervals):
    ends = []
    for interval in sorted(intervals):
        at = bisect_left(ends, interval.low + 1)
        if at:
            ends.pop(at - 1)
        ends.insert(bisect_left(ends, interval.high), interval.high)
    return len(ends)


data = [Interval(*pair) for pair in ((1, 3), (8, 10), (2, 6), (15, 18), (9, 12), (17, 20))]
print(merge(data), gaps(data), busiest(data), rooms(data), sum(map(len, merge(data))))
print(data[0] & data[2], data[0] & data[1], 2 in data[0], 3 in data[0], max(data), sorted(data)[0], len({*data, Interval(1, 3)}))
print(reduce(lambda a, b: a | b, [Interval(0, 2), Interval(1, 5), Interval(5, 6)]))
for bad in (lambda: Interval(2, 1), lambda: data[0] | data[1], lambda: setattr(data[0], 'other', 1)):
    try:
        bad()
    except (ValueError, AttributeError) as error:
        print(type(error).__name__)
