import json


class Parser:
    def __init__(self, text):
        self.text = text
        self.at = 0

    def fail(self, message):
        raise ValueError('%s at %d' % (message, self.at))

    def space(self):
        while self.at < len(self.text) and self.text[self.at] in ' \t\r\n':
            self.at += 1

    def value(self):
        self.space()
        if self.at >= len(self.text):
            self.fail('end of text')
        char = self.text[self.at]
        if char == '{':
            return self.members()
        if char == '[':
            return self.items()
        if char == '"':
            return self.string()
        for word, value in (('true', True), ('false', False), ('null', None)):
            if self.text.startswith(word, self.at):
                self.at += len(word)
                return value
        return self.number()

    def number(self):
        start = self.at
        while self.at < len(self.text) and self.text[self.at] in '+-0123456789.eE':
            self.at += 1
        text = self.text[start:self.at]
        if not text:
            self.fail('unexpected %r' % self.text[start])
        return float(text) if set(text) & set('.eE') else int(text)

    def string(self):
        out = []
        self.at += 1
        while True:
            if self.at >= len(self.text):
                self.fail('open string')
            char = self.text[self.at]
            self.at += 1
            if char == '"':
                return ''.join(out)
            if char == '\\':
                char = self.text[self.at]
                self.at += 1
                if char == 'u':
                    out.append(chr(int(self.text[self.at:self.at + 4], 16)))
                    self.at += 4
                else:
                    out.append({'n': '\n', 't': '\t', 'b': '\b', 'f': '\f', 'r': '\r'}.get(char, char))
            else:
                out.append(char)

    def items(self):
        out = []
        self.at += 1
        self.space()
        if self.text[self.at] == ']':
            self.at += 1
            return out
        while True:
            out.append(self.value())
            self.space()
            char = self.text[self.at:self.at + 1]
            self.at += 1
            if char == ']':
                return out
            if char != ',':
                self.fail('expected , or ]')

    def members(self):
        out = {}
        self.at += 1
        self.space()
        if self.text[self.at] == '}':
            self.at += 1
            return out
        while True:
            self.space()
            key = self.string()
            self.space()
            if self.text[self.at] != ':':
                self.fail('expected :')
            self.at += 1
            out[key] = self.value()
            self.space()
            char = self.text[self.at:self.at + 1]
            self.at += 1
            if char == '}':
                return out
            if char != ',':
                self.fail('expected , or }')


documents = [
    '{"a": [1, 2.5, -3e2, {"b": null}], "c": true, "d": "x\\ny\\u00e9"}',
    '[]', '{}', ' [ 1 , [ ] , { } ] ', '"only text"', '-12.50',
    '{"nested": {"deep": {"deeper": [[[["end"]]]]}}}',
]
for document in documents:
    mine = Parser(document).value()
    theirs = json.loads(document)
    print(mine == theirs, json.dumps(mine), json.dumps(theirs, sort_keys=True, indent=2))
for bad in ['[1, 2', '{"a" 1}', '"open', '[1 2]', '?']:
    try:
        Parser(bad).value()
    except (ValueError, IndexError) as error:
        print(bad, type(error).__name__)
    try:
        json.loads(bad)
    except ValueError as error:
        print(bad, type(error).__name__, error)
print(json.dumps({'k': [1, 2, {'x': (1, 2)}], 'é': 'ü', 1: None, True: 1.0}, ensure_ascii=False, separators=(',', ':')))
