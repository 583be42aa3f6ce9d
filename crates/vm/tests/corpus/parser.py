import json
class Tokenizer:
    def __init__(self, text):
        self.text, self.pos = text, 0
    def tokens(self):
        while self.pos < len(self.text):
            c = self.text[self.pos]
            if c.isspace():
                self.pos += 1
            elif c.isdigit() or c == ".":
                start = self.pos
                while self.pos < len(self.text) and (self.text[self.pos].isdigit() or self.text[self.pos] == "."):
                    self.pos += 1
                lit = self.text[start:self.pos]
                yield ("num", float(lit) if "." in lit else int(lit))
            elif c in "+-*/()^":
                self.pos += 1
                yield ("op", c)
            else:
                raise SyntaxError(f"bad character {c!r} at {self.pos}")
        yield ("end", None)
class Parser:
    PREC = {"+": 1, "-": 1, "*": 2, "/": 2, "^": 3}
    def __init__(self, text):
        self.toks = list(Tokenizer(text).tokens())
        self.i = 0
    def peek(self): return self.toks[self.i]
    def take(self):
        self.i += 1
        return self.toks[self.i - 1]
    def primary(self):
        kind, value = self.take()
        if kind == "num": return value
        if value == "(":
            inner = self.expr(0)
            if self.take() != ("op", ")"): raise SyntaxError("expected )")
            return inner
        if value == "-": return ("neg", self.expr(3))
        raise SyntaxError(f"unexpected {value!r}")
    def expr(self, least):
        left = self.primary()
        while True:
            kind, op = self.peek()
            if kind != "op" or op not in self.PREC or self.PREC[op] < least: return left
            self.take()
            left = (op, left, self.expr(self.PREC[op] + (op != "^")))
OPS = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a / b, "^": lambda a, b: a ** b}
def run(node):
    if isinstance(node, tuple):
        if node[0] == "neg": return -run(node[1])
        return OPS[node[0]](run(node[1]), run(node[2]))
    return node
for text in ("1 + 2 * 3", "(1 + 2) * 3", "2 ^ 3 ^ 2", "-4 + 10 / 4", "1.5 * (2 - -3)", "2 * (3", "7 & 8"):
    try:
        p = Parser(text)
        tree = p.expr(0)
        print(text, "=", run(tree), tree)
    except SyntaxError as error:
        print(text, "!", error)
doc = {"name": "x", "list": [1, 2.5, None, True], "nested": {"a": "é\n\"q\""}, "empty": [], "e": {}}
text = json.dumps(doc)
print(text); print(json.dumps(doc, indent=2, sort_keys=True)); print(json.loads(text) == doc, json.dumps([1, "a"], separators=(",", ":")))
print(json.loads('{"a": [1, -2.5e3, "\\u00e9\\n", {"b": null}], "c": false}'))
for bad in ('{"a": }', "[1, 2", '"abc', "tru", "[1] x"):
    try: json.loads(bad)
    except json.JSONDecodeError as error: print("bad:", error)
