# Paragraphs of a width.

def _chunks(text, break_on_hyphens):
    # Words and the spaces between them; a hyphen between letters ends a part of a word.
    chunks = []
    word = ''
    space = None
    for index in range(len(text)):
        char = text[index]
        blank = char == ' '
        if word and space != blank:
            chunks.append(word)
            word = ''
        word += char
        space = blank
        if (char == '-' and break_on_hyphens and len(word) > 2 and word[-2].isalpha() and word[-3].isalpha()
                and index + 2 < len(text) and text[index + 1].isalpha() and text[index + 2].isalpha()):
            chunks.append(word)
            word = ''
    if word:
        chunks.append(word)
    return chunks


class TextWrapper:
    def __init__(self, width=70, initial_indent='', subsequent_indent='', expand_tabs=True, replace_whitespace=True,
                 fix_sentence_endings=False, break_long_words=True, drop_whitespace=True, break_on_hyphens=True,
                 tabsize=8, *, max_lines=None, placeholder=' [...]'):
        self.width = width
        self.initial_indent = initial_indent
        self.subsequent_indent = subsequent_indent
        self.expand_tabs = expand_tabs
        self.replace_whitespace = replace_whitespace
        self.fix_sentence_endings = fix_sentence_endings
        self.break_long_words = break_long_words
        self.drop_whitespace = drop_whitespace
        self.break_on_hyphens = break_on_hyphens
        self.tabsize = tabsize
        self.max_lines = max_lines
        self.placeholder = placeholder

    def wrap(self, text):
        if self.expand_tabs:
            text = text.expandtabs(self.tabsize)
        if self.replace_whitespace:
            for char in '\t\n\x0b\x0c\r':
                text = text.replace(char, ' ')
        if self.width <= 0:
            raise ValueError('invalid width ' + repr(self.width) + ' (must be > 0)')
        if self.max_lines is not None:
            indent = self.subsequent_indent if self.max_lines > 1 else self.initial_indent
            if len(indent) + len(self.placeholder.lstrip()) > self.width:
                raise ValueError('placeholder too large for max width')
        lines = []
        left = _chunks(text, self.break_on_hyphens)
        left.reverse()
        while left:
            indent = self.subsequent_indent if lines else self.initial_indent
            width = self.width - len(indent)
            if self.drop_whitespace and lines and left[-1].strip() == '':
                left.pop()
            line = []
            length = 0
            while left and length + len(left[-1]) <= width:
                length += len(left[-1])
                line.append(left.pop())
            if left and len(left[-1]) > width:
                length += self._break(line, left, length, width)
            if self.drop_whitespace and line and line[-1].strip() == '':
                length -= len(line.pop())
            if not line:
                continue
            last = not left or self.drop_whitespace and len(left) == 1 and not left[0].strip()
            if self.max_lines is None or len(lines) + 1 < self.max_lines or last and length <= width:
                lines.append(indent + ''.join(line))
                continue
            while line:
                if line[-1].strip() and length + len(self.placeholder) <= width:
                    lines.append(indent + ''.join(line) + self.placeholder)
                    return lines
                length -= len(line.pop())
            if lines:
                before = lines[-1].rstrip()
                if len(before) + len(self.placeholder) <= self.width:
                    lines[-1] = before + self.placeholder
                    return lines
            lines.append(indent + self.placeholder.lstrip())
            return lines
        return lines

    def _break(self, line, left, length, width):
        # A word longer than a line.
        room = 1 if width < 1 else width - length
        if self.break_long_words:
            word = left[-1]
            line.append(word[:room])
            left[-1] = word[room:]
            if not left[-1]:
                left.pop()
            return len(line[-1])
        if not line:
            line.append(left.pop())
            return len(line[-1])
        return 0

    def fill(self, text):
        return '\n'.join(self.wrap(text))


def wrap(text, width=70, **options):
    return TextWrapper(width, **options).wrap(text)


def fill(text, width=70, **options):
    return TextWrapper(width, **options).fill(text)


def shorten(text, width, **options):
    return TextWrapper(width, max_lines=1, **options).fill(' '.join(text.strip().split()))


def dedent(text):
    margin = None
    lines = text.split('\n')
    for index in range(len(lines)):
        line = lines[index]
        if not line.strip(' \t'):
            lines[index] = ''
            continue
        indent = line[:len(line) - len(line.lstrip(' \t'))]
        if margin is None:
            margin = indent
        common = 0
        while common < min(len(margin), len(indent)) and margin[common] == indent[common]:
            common += 1
        margin = margin[:common]
    cut = len(margin or '')
    return '\n'.join([line[cut:] if line else line for line in lines])


def indent(text, prefix, predicate=None):
    out = []
    for line in text.splitlines(True):
        if predicate(line) if predicate is not None else line.strip():
            out.append(prefix)
        out.append(line)
    return ''.join(out)
