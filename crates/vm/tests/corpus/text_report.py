"""Reads records, groups them, prints a table."""
DATA = """\
id,name,dept,salary,start
1,Ann,Eng,120.5,2019
2,Bob,Ops,80,2020
3,Cid,Eng,99.25,2018
4,Dee,HR,70,2021
5,Eve,Ops,85.75,2017
"""
def parse(text):
    header, *rows = [line.split(",") for line in text.strip().splitlines()]
    return [dict(zip(header, row)) for row in rows]
def convert(row):
    out = {}
    for key, value in row.items():
        for kind in (int, float):
            try:
                out[key] = kind(value)
                break
            except ValueError:
                continue
        else:
            out[key] = value
    return out
rows = [convert(r) for r in parse(DATA)]
groups = {}
for row in rows:
    groups.setdefault(row["dept"], []).append(row)
print(f"{'dept':<6}|{'n':>3}|{'mean':>10}|{'max':>8}")
print("-" * 30)
for dept in sorted(groups):
    pay = [r["salary"] for r in groups[dept]]
    print(f"{dept:<6}|{len(pay):>3}|{sum(pay) / len(pay):>10.3f}|{max(pay):>8}")
best = max(rows, key=lambda r: r["salary"])
print(best["name"], [r["name"] for r in sorted(rows, key=lambda r: (r["start"], r["name"]))])
text = "one two three two one two"
index = {}
for place, word in enumerate(text.split()):
    index.setdefault(word, set()).add(place)
print({w: sorted(p) for w, p in sorted(index.items())})
def wrap(text, width):
    line = ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            yield line
            line = word
        else:
            line = f"{line} {word}" if line else word
    if line:
        yield line
for line in wrap("the quick brown fox jumps over the lazy dog and runs away", 16):
    print(f"[{line:^16}]")
def rle(s):
    out, i = [], 0
    while i < len(s):
        j = i
        while j < len(s) and s[j] == s[i]:
            j += 1
        out.append(f"{j - i}{s[i]}" if j - i > 1 else s[i])
        i = j
    return "".join(out)
print(rle("aaabccdddd"), rle(""), rle("abc"))
def roman(n):
    out = ""
    for value, sign in ((1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")):
        while n >= value:
            out += sign
            n -= value
    return out
print([roman(n) for n in (1, 4, 9, 14, 1994, 2026)])
