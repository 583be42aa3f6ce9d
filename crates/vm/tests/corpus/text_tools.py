# Rows, settings, templates, numerals, differences.
import re, string, textwrap
from collections import Counter
CSV = '''name,age,"city, state",note
"Doe, John",42,"NYC, NY","said ""hi"""
Ann,7,,
'''
def parse_csv(text):
    rows, row, cur, q, i = [], [], [], False, 0
    while i < len(text):
        ch = text[i]
        if q:
            if ch == '"':
                if text[i + 1:i + 2] == '"': cur.append('"'); i += 1
                else: q = False
            else: cur.append(ch)
        elif ch == '"': q = True
        elif ch == ",": row.append("".join(cur)); cur.clear()
        elif ch == "\n": row.append("".join(cur)); cur.clear(); rows.append(row); row = []
        else: cur.append(ch)
        i += 1
    return rows
head, *rows = parse_csv(CSV); print(head); print([dict(zip(head, r)) for r in rows])
INI = """; comment
[db]
host = localhost
port=5432
[web]
debug = yes
paths = /a:/b
"""
def parse_ini(t):
    out, sec = {}, None
    for n, line in enumerate(t.splitlines(), 1):
        line = line.strip()
        if not line or line[0] in ";#": continue
        if m := re.fullmatch(r"\[(\w+)\]", line): sec = out.setdefault(m[1], {})
        elif m := re.match(r"(\w+)\s*=\s*(.*)", line):
            k, v = m.groups(); sec[k] = int(v) if v.isdigit() else {"yes": True, "no": False}.get(v.lower(), v)
        else: raise SyntaxError(f"line {n}: {line!r}")
    return out
print(parse_ini(INI))
def render(t, **ctx):
    def sub(m):
        e, _, flt = m[1].strip().partition("|"); val = ctx
        for part in e.strip().split("."): val = val[part] if isinstance(val, dict) else getattr(val, part)
        return {"upper": str.upper, "len": lambda v: str(len(v)), "": str}[flt.strip()](val)
    return re.sub(r"\{\{(.+?)\}\}", sub, t)
print(render("Hi {{ user.name|upper }}, {{n}} items, {{user.tags | len}}", user={"name": "bo", "tags": [1, 2]}, n=3))
def roman(n):
    out = ""
    for v, s in zip((1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1), "M CM D CD C XC L XL X IX V IV I".split()):
        q, n = divmod(n, v); out += s * q
    return out
print([roman(n) for n in (1, 4, 9, 14, 40, 90, 400, 1994, 2024, 3999)])
words = "the quick brown the lazy dog the end".split()
print(Counter(words).most_common(2), sorted(set(words), key=lambda w: (-words.count(w), w)), {w: [i for i, x in enumerate(words) if x == w] for w in dict.fromkeys(words)})
def rle(s): return re.sub(r"(.)\1*", lambda m: f"{len(m[0])}{m[1]}", s) if 0 else "".join(f"{len(list(g))}{k}" for k, g in __import__("itertools").groupby(s)) if 0 else s
print(rle("aaabb"))
def wrap(t, w):
    lines, cur = [], ""
    for word in t.split():
        if len(cur) + len(word) + bool(cur) > w: lines.append(cur); cur = word
        else: cur = f"{cur} {word}" if cur else word
    return lines + [cur]
for l in wrap("Lorem ipsum dolor sit amet consectetur adipiscing elit", 20): print(f"|{l:<20}|{l:>20}|{l:^20}|")
print(textwrap.fill("Lorem ipsum dolor sit amet, consectetur adipiscing elit.", width=25, initial_indent="> ", subsequent_indent="  "), textwrap.shorten("Hello world and more", 12), textwrap.dedent("  a\n   b\n  c"), sep="\n")
def lcs_diff(a, b):
    m = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(len(a) - 1, -1, -1):
        for j in range(len(b) - 1, -1, -1): m[i][j] = m[i + 1][j + 1] + 1 if a[i] == b[j] else max(m[i + 1][j], m[i][j + 1])
    i = j = 0
    while i < len(a) or j < len(b):
        if i < len(a) and j < len(b) and a[i] == b[j]: yield "  " + a[i]; i += 1; j += 1
        elif j < len(b) and (i == len(a) or m[i][j + 1] >= m[i + 1][j]): yield "+ " + b[j]; j += 1
        else: yield "- " + a[i]; i += 1
print(*lcs_diff("a b c d".split(), "a x c d e".split()), sep="\n")
snake = lambda s: re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", s).lower()
camel = lambda s: "".join(w.capitalize() if i else w for i, w in enumerate(s.split("_")))
print(snake("someVariableName2X"), camel("some_variable_name"), "".join(sorted("hello", reverse=True)), "hello world".translate(str.maketrans("lo", "01")), "".join(c for c in "a1b2" if c.isdigit()), re.findall(r"\b[A-Z]\w*\b", "The Quick brown Fox"), re.sub(r"(\w+) (\w+)", r"\2 \1", "hello world"), re.split(r"[;,\s]\s*", "a; b,c d"), re.match(r"(?P<y>\d{4})-(?P<m>\d{2})", "2024-05-06").groupdict())
tmpl = string.Template("$who likes ${what}s for $$5"); print(tmpl.substitute(who="Al", what="cake"), tmpl.safe_substitute(who="x"))
try: tmpl.substitute(who="x")
except KeyError as e: print("missing", e)
print(sum(c in "aeiou" for c in "programming"), "abc".maketrans("a", "b"), "{:>{w}}|{:^{w}}".format("r", "c", w=6), "Name".ljust(10, ".") + "Val".rjust(6), f"{'Item':<10}{'Qty':>5}{'Price':>10}", "-" * 25, f"{'Widget':<10}{3:>5}{9.99:>10.2f}", sep="\n")
print(max("apple fig banana".split(), key=len), " ".join(w[::-1] for w in "abc def".split()), "madam" == "madam"[::-1], [ord(c) - 96 for c in "abc"], "".join(chr(ord(c) ^ 32) for c in "AbC"), "a-b-c".rsplit("-", 1), "x".join(["1", "2"]), "abcabc".replace("b", "", 1), "  a b  ".split(" "), "tic-tac".title(), repr("it's"), repr('say "hi"'), repr("both ' and \""), "\\n", r"\n", "tab\there", "nul\0".encode())
