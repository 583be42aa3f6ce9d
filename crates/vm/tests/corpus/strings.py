s = "Hello, World"
print(s.upper(), s.lower(), s.swapcase(), s.title(), s[::-1], s[2:5], s[-3:], s[::2], len(s))
print(s.find("o"), s.rfind("o"), s.index("W"), s.count("l"), s.replace("l", "L", 2), s.startswith("Hell"), s.endswith(("x", "ld")))
print("a,b,,c".split(","), "  a  b ".split(), "a,b,c".rsplit(",", 1), "x".join(["1", "2"]), "a\nb\r\nc".splitlines())
print("abc".ljust(6, "."), "abc".rjust(6), "abc".center(8, "*"), "42".zfill(5), "-42".zfill(5), "  x ".strip() + "|", "xxaxx".strip("x"))
print("abc".partition("b"), "abc".rpartition("z"), "aXbX".removesuffix("X"), "aXbX".removeprefix("a"))
print("abc".isalpha(), "12".isdigit(), "a1".isalnum(), " ".isspace(), "Ab".isupper(), "ab".islower(), "x_1".isidentifier())
print(repr("it's"), repr('say "hi"'), repr("both ' and \""), repr("tab\tnl\n\\"), repr("\x00\x7f\xe9€"), "naïve café"[3], len("日本語"))
print("{} {1}".format(1, 2) if False else "{0} {1} {0}".format("a", "b"), "{:>10}|{:<10}|{:^10}".format("r", "l", "c"), "{x.real} {y[0]} {z[k]}".format(x=3, y=[7], z={"k": "v"}))
print(f"{s!r:>20} {len(s):03d} {3.14159:.3f} {1234567.891:,.2f} {0.000001:e} {255:b} {255:o} {255:X} {-5:+d} {5:+d} {0.25:.1%} {10**20:,}")
print(f"{'nested':{'>'}{12}} {s=} {1 + 1 = } {'a' 'b'}")
print("%s %r %d %5.1f %05d %x %% %c %-6s|" % ("s", "r", 42, 3.14159, 42, 255, "c", "left"))
print("%(name)s is %(age)d" % {"name": "Bob", "age": 5})
print("abc" < "abd", "a" * 3, "b" in "abc", "abc" == "ab" + "c", min("hello"), sorted("hello"), list("abc"))
print("a-b_c".translate(str.maketrans("-_", "  ")), "hello world foo".title(), "ß".upper(), "İ".lower() == "i̇")
print(",".join(f"{i:02d}" for i in range(5)), "line1\nline2".split("\n"), "tab\there".expandtabs(4))
print("abc".encode(), b"abc".decode(), b"\x00\xff".hex(), bytes.fromhex("00ff10"), bytes([1, 2, 3]), bytearray(b"ab") + b"c", b"a,b".split(b","))
words = "the quick brown fox jumps over the lazy dog the end".split()
freq = {}
for w in words:
    freq[w] = freq.get(w, 0) + 1
print(sorted(freq.items(), key=lambda kv: (-kv[1], kv[0]))[:3])
def is_palindrome(t):
    t = "".join(ch.lower() for ch in t if ch.isalnum())
    return t == t[::-1]
print(is_palindrome("A man, a plan, a canal: Panama"), is_palindrome("nope"))
def caesar(t, k):
    return "".join(chr((ord(c) - 97 + k) % 26 + 97) if c.islower() else c for c in t)
print(caesar("hello world", 3), caesar(caesar("hello world", 3), -3))
print("%.3e|%g|%g|%g" % (12345.678, 0.0001, 1e10, 123456789.0), f"{1e15} {1e16} {123456789012345680.0} {1.0} {1e-5} {0.0001} {-0.0}")
print(f"{1.5:10.2f}|{1.5:<10}|{1.5:^10}|{True:5}|{'x':5}|{None!s:>6}|{3:5}|{3:<5}|{1e100:.3g}|{float('inf')}|{float('nan')}")
try:
    "abc".index("z")
except ValueError as e:
    print(e)
