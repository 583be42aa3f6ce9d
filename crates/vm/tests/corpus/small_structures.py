# A trie, a parser of JSON, a code by frequency, a filter, caches, a small language.
import re, json, string, hashlib, heapq, functools, operator, itertools, struct, base64
from collections import OrderedDict, Counter, deque, defaultdict, UserDict, UserList, ChainMap
class Trie:
    __slots__ = ("kids", "end")
    def __init__(self): self.kids, self.end = {}, False
    def add(self, w):
        n = self
        for c in w: n = n.kids.setdefault(c, Trie())
        n.end = True
    def words(self, pre=""):
        if self.end: yield pre
        for c in sorted(self.kids): yield from self.kids[c].words(pre + c)
    def starting(self, pre):
        n = self
        for c in pre:
            if (n := n.kids.get(c)) is None: return []
        return list(n.words(pre))
    def __contains__(self, w): return w in self.starting(w)[:1]
    def __len__(self): return sum(1 for _ in self.words())
t = Trie(); [t.add(w) for w in "car card care cat dog do".split()]; print(t.starting("car"), "do" in t, "d" in t, len(t), list(t.words()))
class JSONParser:
    WS = re.compile(r"[ \t\n\r]*"); NUM = re.compile(r"-?(?:0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?"); STR = re.compile(r'"((?:[^"\\\x00-\x1f]|\\.)*)"')
    def __init__(self, s): self.s, self.i = s, 0
    def ws(self): self.i = self.WS.match(self.s, self.i).end()
    def parse(self):
        v = self.value(); self.ws()
        if self.i != len(self.s): raise ValueError(f"extra data at {self.i}")
        return v
    def value(self):
        self.ws()
        if self.i >= len(self.s): raise ValueError("unexpected end")
        match self.s[self.i]:
            case "{": return dict(self.items("}", self.pair))
            case "[": return list(self.items("]", self.value))
            case '"': return self.string()
            case "t" | "f" | "n":
                for lit, val in (("true", True), ("false", False), ("null", None)):
                    if self.s.startswith(lit, self.i): self.i += len(lit); return val
                raise ValueError(f"bad literal at {self.i}")
            case c if c in "-0123456789":
                m = self.NUM.match(self.s, self.i); self.i = m.end()
                return float(m[0]) if m[1] or m[2] else int(m[0])
            case c: raise ValueError(f"unexpected {c!r} at {self.i}")
    def items(self, close, item):
        self.i += 1; self.ws(); first = True
        while self.s[self.i:self.i + 1] != close:
            if not first:
                if self.s[self.i:self.i + 1] != ",": raise ValueError(f"expected , at {self.i}")
                self.i += 1
            yield item(); self.ws(); first = False
        self.i += 1
    def string(self):
        m = self.STR.match(self.s, self.i)
        if not m: raise ValueError(f"bad string at {self.i}")
        self.i = m.end()
        return re.sub(r"\\(u[0-9a-fA-F]{4}|.)", lambda k: chr(int(k[1][1:], 16)) if k[1][0] == "u" else {"n": "\n", "t": "\t"}.get(k[1], k[1]), m[1])
    def pair(self):
        self.ws(); k = self.string(); self.ws()
        if self.s[self.i:self.i + 1] != ":": raise ValueError(f"expected : at {self.i}")
        self.i += 1; return k, self.value()
for src in ('{"a": [1, -2.5e3, true, null], "b\\n\\u00e9": {"c": "d\\"e"}}', "[]", "[1, 2", '{"a" 1}', "tru", "[1] 2", '"abc', "", "{}", "[1,,2]", "-"):
    try: r = JSONParser(src).parse(); print(r, r == json.loads(src))
    except (ValueError, AttributeError, TypeError) as e: print(type(e).__name__, e)
def huff(text):
    h = [[n, i, c] for i, (c, n) in enumerate(sorted(Counter(text).items()))]; heapq.heapify(h); k = itertools.count(len(h))
    while len(h) > 1: a, b = heapq.heappop(h), heapq.heappop(h); heapq.heappush(h, [a[0] + b[0], next(k), (a[2], b[2])])
    codes = {}
    def walk(n, p=""):
        if isinstance(n, tuple): walk(n[0], p + "0"); walk(n[1], p + "1")
        else: codes[n] = p or "0"
    walk(h[0][2]); return codes
c = huff("abracadabra"); enc = "".join(c[x] for x in "abracadabra"); print(c, enc, len(enc), int(enc, 2).to_bytes((len(enc) + 7) // 8, "big").hex())
class Bloom:
    def __init__(self, m=64, k=3): self.m, self.k, self.bits = m, k, 0
    def _h(self, x): return [struct.unpack_from(">I", hashlib.sha256(f"{i}:{x}".encode()).digest())[0] % self.m for i in range(self.k)]
    def add(self, x): self.bits = functools.reduce(operator.or_, (1 << h for h in self._h(x)), self.bits)
    def __contains__(self, x): return all(self.bits >> h & 1 for h in self._h(x))
b = Bloom(); [b.add(w) for w in "one two three".split()]; print([w in b for w in "one two three four five".split()], f"{b.bits:064b}", b.bits.bit_count())
class LRU(OrderedDict):
    def __init__(self, cap, *a, **k): self.cap = cap; self.hits = self.misses = 0; super().__init__(*a, **k)
    def get(self, k, default=None):
        if k in self: self.hits += 1; self.move_to_end(k); return super().__getitem__(k)
        self.misses += 1; return default
    def put(self, k, v):
        if k in self: self.move_to_end(k)
        self[k] = v
        if len(self) > self.cap: return self.popitem(last=False)
l = LRU(2); print(l.put("a", 1), l.put("b", 2), l.get("a"), l.put("c", 3), l.get("b", "?"), list(l), l, l.hits, l.misses)
class Cfg(UserDict):
    def __getitem__(self, k): v = super().__getitem__(k.lower()); return v.format(**self.data) if isinstance(v, str) else v
    def __setitem__(self, k, v): super().__setitem__(k.lower(), v)
    def __contains__(self, k): return super().__contains__(k.lower())
g = Cfg({"Root": "/srv", "LOG": "{root}/log"}, Debug=True); print(g["log"], g["DEBUG"], "Root" in g, g.get("nope", 3), sorted(g), len(g), g, dict(g), list(g.items()))
class Sorted(UserList):
    def append(self, x): super().append(x); self.data.sort()
    def __add__(self, o): r = super().__add__(o); r.data.sort(); return r
q = Sorted([3, 1]); q.append(2); print(q, q + [0], q[0:2], type(q[0:2]).__name__, 2 in q, q == [1, 2, 3], list(reversed(q)), q.index(3), q * 2, len(q))
def tokenize(s): return re.findall(r"[()]|[^\s()]+", s)
def read(ts):
    t = ts.pop(0)
    if t == "(":
        l = []
        while ts[0] != ")": l.append(read(ts))
        ts.pop(0); return l
    if t == ")": raise SyntaxError("unexpected )")
    for f in (int, float):
        try: return f(t)
        except ValueError: pass
    return t
ENV = {"+": lambda *a: sum(a), "*": lambda *a: functools.reduce(operator.mul, a, 1), "-": lambda a, *b: a - sum(b) if b else -a, "<": operator.lt, "=": operator.eq, "list": lambda *a: list(a), "map": lambda f, l: [f(x) for x in l]}
def ev(x, env):
    while True:
        if isinstance(x, str):
            try: return env[x]
            except KeyError: raise NameError(f"unbound {x}") from None
        if not isinstance(x, list): return x
        match x:
            case ["quote", v]: return v
            case ["if", c, a, b]: x = a if ev(c, env) else b
            case ["define", n, v]: env[n] = ev(v, env); return None
            case ["lambda", ps, body]: return lambda *a, ps=ps, body=body, env=env: ev(body, ChainMap(dict(zip(ps, a)), env))
            case [f, *a]: return ev(f, env)(*(ev(y, env) for y in a))
            case []: return None
env = dict(ENV)
for src in ("(+ 1 2 (* 3 4))", "(define sq (lambda (x) (* x x)))", "(map sq (list 1 2 3.5))", "(define fact (lambda (n) (if (< n 2) 1 (* n (fact (- n 1))))))", "(fact 20)", "(quote (a (b c)))", "(foo)", ")", "((lambda (x y) (- x y)) 5 8)"):
    try: print(src, "=>", ev(read(tokenize(src)), env))
    except Exception as e: print(src, "!!", type(e).__name__, e)
