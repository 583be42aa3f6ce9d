# Tables and every kind of format.
rows = [("apple", 3, 1.25, True), ("banana", 12, 0.5, False), ("kiwi", 100, 12.999, None)]
w = [max(len(str(r[i])) for r in rows) for i in range(4)]
line = "+".join("-" * (x + 2) for x in w)
print(line)
for n, q, p, f in rows:
    print(f" {n:<{w[0]}} | {q:>{w[1]}d} | {p:{w[2] + 2}.2f} | {f!s:^{w[3]}}")
print(line.replace("-", "="))
for spec in ["", "d", "5d", "<5d", "^5d", "05d", "+d", " d", ",", "_", "x", "#x", "#06x", "o", "b", "#b", "e", "E", "f", ".1f", "g", "%", "n", "c", "=+7", "*>8", "*<8", "*^8", "08,", "+,.2f", ".3g", "010.2e", "_b", "_x", "#o", "X", "#X"]:
    for v in (65, -42, 1234567):
        try: print(f"{spec!r}: {format(v, spec)!r}", end=" ")
        except (ValueError, OverflowError) as e: print(f"{spec!r}: {type(e).__name__} {e}", end=" ")
    print()
for spec in ["", "f", ".0f", ".3f", "10.3f", "<10.3f|", "e", ".2e", "g", ".3g", "G", "%", ".1%", ",", ",.3f", "_.2f", "+", " ", "+.1f", "010.2f", "^12.2f", "n", "d", "s", "#.0f", "#g", ".10g", ".0e", "5", ".15g", ".17g", "z.0f", "0=12.3f", "*=+12.3f"]:
    for v in (3.14159, -0.5, 1e10, 1234567.891, 0.0, 1e-7):
        try: print(f"{spec!r}: {format(v, spec)!r}", end=" ")
        except ValueError as e: print(f"{spec!r}: {e}", end=" ")
    print()
for spec in ["", "s", "10", "<10", ">10", "^10", "*^10", ".2", "10.2", "^10.2s", "d", "010", "=10", "+", ",", "x"]:
    for v in ("hello", "", "é"):
        try: print(f"{spec!r}: {format(v, spec)!r}", end=" ")
        except ValueError as e: print(f"{spec!r}: {e}", end=" ")
    print()
for v in [float("inf"), float("-inf"), float("nan"), -0.0, 1e100, 123456789.123456789, 2**53 + 1.0, 1e16, 9999999999999998.0, 0.1 + 0.7, 1e-4, 1.5e-5, 100.0, 1e5, 12345678901234567890.0, 5e-324, 1.7976931348623157e308]:
    print(repr(v), str(v), f"{v:.3f}"[:20], f"{v:g}", f"{v:e}", f"{v:010.1f}"[:15], f"{v:,}"[:30])
name = "World"; n = 3.14159; d = {"k": [1, 2]}
print(f"{name!r:>10}|{name:.2}|{n:.{2}f}|{d['k'][1]}|{'nested ' + f'{n:.1f}'}|{n!s}|{name=}|{n=:.2f}|{d['k']=}|{ name = }|{name.upper()!a}")
print(f"{'{'}{'}'}{{x}}{{{name}}}", f"{1:>3}{2:<3}{3:^3}|", f"{True:d}{True}{None}", f"{[1,2]!r:>10}", f"{(lambda x: x * 2)(4)}", f"{'a' if n > 3 else 'b'}", f"{n:>+10.2f}", f"{1_000_000:,}", f"{255:#x} {255:#b} {255:o}", f"{0.1:.20f}", f"{1e300:.0f}"[:10])
print("%-10s|%10s|%.3s|%5d|%-5d|%05d|%+d|%x|%#x|%o|%e|%.2e|%g|%G|%c|%r|%%" % ("ab", "cd", "efghi", 42, 42, 42, 42, 255, 255, 8, 12345.678, 0.00012, 1e-10, 1e20, "z", [1]))
print("%(name)s is %(age)03d" % {"name": "Bob", "age": 7}, "%s" % (1, ) , "%s %s" % ("a", (1, 2)), "%5.1f%%" % 99.55, "%s" % [1, 2], "%i" % -3.9, "%X" % 48879, "% d" % 5, "%.0f" % 0.5, "%.10g" % 0.1, "%s" % 1e20, "%a" % "é", "%5s" % None)
for bad in ("%d" , "%s %s", "%z", "%", "%(a)s", "%.f"):
    for arg in (("x",), (1,), 5.5):
        try: print(repr(bad % arg), end=" ")
        except (TypeError, ValueError, KeyError) as e: print(type(e).__name__, e, end="; ")
    print()
print("{0:{1}}|{name:>{w}}|{0!r}|{2[k]}|{3.real}|{4[0][1]}".format("a", "^5", {"k": 1}, 7, [[1, 2]], name="n", w=4))
for bad in ("{", "}", "{0", "{a.b}", "{!}", "{0!z}", "{:{}}", "{a[0]}", "{0.x}", "{:zz}", "{} {1}", "{1}"):
    try: print(bad.format(5))
    except Exception as e: print(type(e).__name__, e)
print("{:>8}{:<8}{:^8}".format("r", "l", "c"), "{:08.3f}".format(3.14159), "{:+}".format(5), "{:%}".format(.5), "{:.2%}".format(1/3), "{!r}".format("q"), "{:{a}{w}}".format("x", a="^", w=5), "{x[a]}".format(x={"a": 1}), "{0}{0}".format("z"), "{:,}".format(-1234567.5), "{:e}".format(0))
print("{a}-{b}".format_map({"a": 1, "b": 2}), str.format("{}", 5), "{}".format("{}"))
