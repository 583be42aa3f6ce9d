ascii_lowercase = 'abcdefghijklmnopqrstuvwxyz'
ascii_uppercase = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
ascii_letters = ascii_lowercase + ascii_uppercase
digits = '0123456789'
hexdigits = digits + 'abcdefABCDEF'
octdigits = '01234567'
punctuation = '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~'
whitespace = ' \t\n\r\x0b\x0c'
printable = digits + ascii_letters + punctuation + whitespace


def capwords(s, sep=None):
    return (sep or ' ').join([word.capitalize() for word in s.split(sep)])


class Template:
    def __init__(self, template):
        self.template = template

    def _fill(self, table, safe):
        text = self.template
        out = []
        at = 0
        while at < len(text):
            char = text[at]
            if char != '$':
                out.append(char)
                at += 1
                continue
            if text[at + 1:at + 2] == '$':
                out.append('$')
                at += 2
                continue
            brace = text[at + 1:at + 2] == '{'
            start = at + 2 if brace else at + 1
            end = start
            while end < len(text) and (text[end].isalnum() or text[end] == '_'):
                end += 1
            name = text[start:end]
            after = end + 1 if brace else end
            if name in table:
                out.append(str(table[name]))
            elif safe:
                out.append(text[at:after])
            else:
                raise KeyError(name)
            at = after
        return ''.join(out)

    def substitute(self, table={}, /, **more):
        return self._fill({**table, **more}, False)

    def safe_substitute(self, table={}, /, **more):
        return self._fill({**table, **more}, True)
