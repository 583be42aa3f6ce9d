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
            found = text.find('$', at)
            if found < 0:
                out.append(text[at:])
                break
            out.append(text[at:found])
            at = found
            if text[at + 1:at + 2] == '$':
                out.append('$')
                at += 2
                continue
            brace = text[at + 1:at + 2] == '{'
            start = at + 2 if brace else at + 1
            end = start
            while end < len(text) and text[end].isascii() and (text[end].isalnum() or text[end] == '_'):
                end += 1
            name = text[start:end]
            after = end + 1 if brace else end
            if not name or name[0].isdigit() or brace and text[end:after] != '}':
                if not safe:
                    lines = text[:at].split('\n')
                    raise ValueError('Invalid placeholder in string: line ' + str(len(lines)) + ', col ' + str(len(lines[-1]) + 1))
                out.append('$')
                at += 1
                continue
            if name in table or not safe:
                out.append(str(table[name]))
            else:
                out.append(text[at:after])
            at = after
        return ''.join(out)

    def get_identifiers(self):
        class Names(dict):
            def __missing__(self, key):
                self[key] = ''
                return ''
        names = Names()
        self._fill(names, False)
        return list(names)

    def is_valid(self):
        try:
            self.get_identifiers()
        except ValueError:
            return False
        return True

    def substitute(self, table={}, /, **more):
        return self._fill({**table, **more} if more else table, False)

    def safe_substitute(self, table={}, /, **more):
        return self._fill({**table, **more} if more else table, True)
