import collections
import functools
import json
import re
import string

DATA = '''date,customer,"item, kind",amount,note
2024-01-05,Ann,"apple, red",3,"said ""hi"""
2024-01-09,Bob,"pear",2,
2024-02-11,Ann,"apple, green",10,big
2024-02-30,Cid,plum,x,bad amount
2024-03-01,Bob,pear,7,"multi
line"
'''


def parse_csv(text):
    row, field, quoted, rows = [], [], False, []
    at = 0
    while at < len(text):
        char = text[at]
        if quoted:
            if char == '"' and text[at + 1:at + 2] == '"':
                field.append('"')
                at += 1
            elif char == '"':
                quoted = False
            else:
                field.append(char)
        elif char == '"':
            quoted = True
        elif char == ',':
            row.append(''.join(field))
            field = []
        elif char == '\n':
            row.append(''.join(field))
            rows.append(row)
            row, field = [], []
        else:
            field.append(char)
        at += 1
    return rows


header, *rows = parse_csv(DATA)
Record = collections.namedtuple('Record', [re.sub(r'\W+', '_', name) for name in header])
print(Record._fields)
good, bad = [], []
for row in rows:
    record = Record(*row)
    try:
        good.append(record._replace(amount=int(record.amount)))
    except ValueError as error:
        bad.append((record.customer, str(error)))
print(bad)
totals = collections.Counter()
for record in good:
    totals[record.customer] += record.amount
print(totals.most_common(), sum(totals.values()))
by_month = collections.defaultdict(list)
for record in good:
    by_month[record.date[:7]].append(record)
for month, records in sorted(by_month.items()):
    print(f'{month:<10}{len(records):>3}{sum(r.amount for r in records):>6}  {max(records, key=lambda r: r.amount).customer}')
print(json.dumps([record._asdict() for record in good], indent=1))
template = string.Template('Dear $name, you owe ${amount} for $$5 items')
print(template.substitute(name='Ann', amount=13), template.safe_substitute(name='Bob'))
try:
    template.substitute(name='x')
except KeyError as error:
    print('missing', error)
pivot = functools.reduce(lambda table, r: {**table, r.customer: table.get(r.customer, ()) + (r.amount,)}, good, {})
print(pivot)
widths = [max(len(str(row[i]).split('\n')[0]) for row in rows) for i in range(4)]
for row in rows:
    print(' | '.join(cell.split('\n')[0].ljust(width) for cell, width in zip(row, widths)))
