# Looking ahead and behind.
import re
def t(p, s, flags=0):
    try:
        r = re.compile(p, flags)
        print(repr(p), [(m.span(), m.group(), m.groups()) for m in r.finditer(s)], r.sub("<>", s), r.split(s))
    except re.error as e:
        print(repr(p), "error", e)
for s in ("1234567", "a1b22c333", "camelCaseStringHTTPServer", "foobar foobaz barfoo", "price: $100, cost: 50 USD", "", "aaa", "line1\nline2\n"):
    for p in (r"(?<=\d)(?=(?:\d{3})+$)", r"(?<=\d)(?=(\d{3})+$)", r"(?<!^)(?=[A-Z])", r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", r"foo(?=bar)", r"foo(?!bar)", r"(?<=foo)bar", r"(?<!foo)bar", r"(?<=\$)\d+", r"\d+(?= USD)", r"\b(?!foo)\w+", r"^(?=.*\d)(?=.*[a-z]).{3,}$", r"(?=(a))a", r"a(?=a)", r"(?=a*)(a)?", r"(?:(?!b).)+", r"(?=.*(\d)).", r"(?!.*\d)\w", r"(?<=a|b)\d", r"(?<=ab)c|(?<!b)c", r"(?=(?=(\w)\w)\w)\w", r"(?<=(?<!a)\d)\w", r"\w(?=$)", r"\w(?=\n)", r"(?<=^)\w", r"(?m)(?<=^)\w+(?=$)", r"(?i)FOO(?=BAR)", r"(?=)", r"(?!)", r"x?(?=b)|o", r"((?=o)o)+", r"(?:(?=(o))o)+"):
        t(p, s)
for p in (r"(?<=a+)b", r"(?<=a|bc)d", r"(?<", r"(?<=a", r"(?=", r"(?<x", r"(?=a", r"(?!a"):
    t(p, "abc")
for pw in ("Passw0rd!", "short1!", "nouppercase1!", "NOLOWER1!", "NoDigits!!", "NoSpecial11"):
    print(pw, bool(re.match(r"^(?=.*[a-z])(?=.*[A-Z])(?=.*\d)(?=.*[^\w\s]).{8,}$", pw)))
print(re.sub(r"(?<!\d)(?=(?:\d{3})+(?!\d))|(?<=\d)(?=(?:\d{3})+(?!\d))", ",", "1234567 and 89"), re.sub(r"\B(?=(\d{3})+(?!\d))", ",", "1234567 12 1234"), re.findall(r"(?<=@)\w+", "a@b c@d"), re.split(r"(?<=[.!?])\s+", "One. Two! Three? Four"), re.findall(r"\w+(?=:)", "key: val other: x"), re.sub(r"(?<=\d{4})\d", "*", "12345678"), re.search(r"(?<=-)\w+", "spam-egg").group(0))
