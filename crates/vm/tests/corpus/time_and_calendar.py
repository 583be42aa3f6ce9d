from functools import total_ordering

DAYS = 'Monday Tuesday Wednesday Thursday Friday Saturday Sunday'.split()
MONTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]


def leap(year):
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


@total_ordering
class Date:
    def __init__(self, year, month, day):
        if not 1 <= month <= 12:
            raise ValueError(f'no month {month}')
        if not 1 <= day <= self.month_length(year, month):
            raise ValueError(f'{year}-{month:02} has no day {day}')
        self.year, self.month, self.day = year, month, day

    @staticmethod
    def month_length(year, month):
        return MONTHS[month - 1] + (month == 2 and leap(year))

    @property
    def ordinal(self):
        y = self.year - 1
        return y * 365 + y // 4 - y // 100 + y // 400 + sum(self.month_length(self.year, m) for m in range(1, self.month)) + self.day

    @classmethod
    def from_ordinal(cls, n):
        year = n // 366 + 1
        while cls(year, 12, 31).ordinal < n:
            year += 1
        n -= cls(year, 1, 1).ordinal
        month = 1
        while n >= cls.month_length(year, month):
            n -= cls.month_length(year, month)
            month += 1
        return cls(year, month, n + 1)

    @property
    def weekday(self):
        return DAYS[(self.ordinal + 6) % 7]

    def __add__(self, days):
        return Date.from_ordinal(self.ordinal + days)

    def __sub__(self, other):
        return self.ordinal - other.ordinal if isinstance(other, Date) else self + -other

    def __eq__(self, other):
        return self.ordinal == other.ordinal

    def __lt__(self, other):
        return self.ordinal < other.ordinal

    def __str__(self):
        return f'{self.year:04}-{self.month:02}-{self.day:02}'

    def __format__(self, spec):
        parts = {'d': f'{self.day:02}', 'm': f'{self.month:02}', 'y': str(self.year), 'A': self.weekday}
        return ''.join(parts.get(c, c) for c in spec) if spec else str(self)


def calendar(year, month):
    first = DAYS.index(Date(year, month, 1).weekday)
    cells = [''] * first + [str(day) for day in range(1, Date.month_length(year, month) + 1)]
    lines = [f'{year}-{month:02}'.center(20), ' '.join(day[:2] for day in DAYS)]
    for at in range(0, len(cells), 7):
        lines.append(' '.join(cell.rjust(2) for cell in cells[at:at + 7]))
    return '\n'.join(lines)


d = Date(2024, 2, 28)
print(d, d + 1, d + 2, d - 59, d.weekday, Date(2000, 1, 1) - Date(1999, 1, 1), Date(1970, 1, 1).ordinal)
print(f'{d:A, d/m/y} {d}', sorted([Date(2024, 5, 1), Date(2023, 12, 31)])[0], max(d, Date(2025, 1, 1)), Date(2024, 1, 1) <= Date(2024, 1, 1))
print(all(Date.from_ordinal(Date(y, m, 15).ordinal) == Date(y, m, 15) for y in (1900, 2000, 2023, 2024) for m in range(1, 13)))
print(calendar(2024, 2))
for bad in ((2023, 2, 29), (2024, 13, 1), (2024, 4, 31)):
    try:
        Date(*bad)
    except ValueError as error:
        print(error)
def easter(year):
    a, b, c = year % 19, year // 100, year % 100
    d, e = divmod(b, 4)
    g = (8 * b + 13) // 25
    h = (19 * a + b - d - g + 15) % 30
    i, k = divmod(c, 4)
    l = (32 + 2 * e + 2 * i - h - k) % 7
    m = (a + 11 * h + 22 * l) // 451
    month, day = divmod(h + l - 7 * m + 114, 31)
    return Date(year, month, day + 1)
print(*[easter(y) for y in (2000, 2023, 2024, 2038)])
def duration(seconds):
    parts = []
    for size, name in ((86400, 'd'), (3600, 'h'), (60, 'm'), (1, 's')):
        count, seconds = divmod(seconds, size)
        if count or name == 's' and not parts:
            parts.append(f'{count}{name}')
    return ' '.join(parts)
print([duration(n) for n in (0, 59, 61, 3600, 90061)])
