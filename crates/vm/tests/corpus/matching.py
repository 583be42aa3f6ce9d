from dataclasses import dataclass
@dataclass
class Pt:
    x: int
    y: int
def kind(v):
    match v:
        case None: return "none"
        case True | False: return "bool"
        case 0: return "zero"
        case int(n) if n < 0: return f"negative {n}"
        case int() | float(): return "number"
        case "a" | "b": return "letter"
        case str(s): return "str " + s
        case []: return "empty"
        case [x]: return f"one {x}"
        case [1, (2 | 3) as y, *rest]: return f"pattern {y} {rest}"
        case [first, *_, last]: return f"ends {first} {last}"
        case {"type": "circle", "r": r}: return f"circle {r}"
        case {"k": v, **rest}: return f"map {v} {sorted(rest)}"
        case Pt(x=0, y=y): return f"on axis {y}"
        case Pt(x, y) if x == y: return f"diagonal {x}"
        case Pt(): return "point"
        case _: return "other"
for v in (None, True, 0, -5, 7, 2.5, "a", "zzz", [], [9], [1, 2, 3, 4], [1, 3], (4, 5, 6), {"type": "circle", "r": 2}, {"k": 1, "z": 2}, Pt(0, 5), Pt(3, 3), Pt(1, 2), {}, {1}):
    print(kind(v))
def evaluate(e):
    match e:
        case ("+", a, b): return evaluate(a) + evaluate(b)
        case ("*", a, b): return evaluate(a) * evaluate(b)
        case ("neg", a): return -evaluate(a)
        case int(): return e
print(evaluate(("+", 1, ("*", 2, ("neg", 3)))))
