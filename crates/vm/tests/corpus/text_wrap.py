TEXT = """The collector runs when enough has been allocated. It visits what can be reached
and frees the rest; a very-long-hyphenated-word-that-does-not-fit is left alone.

A second paragraph, with    odd   spacing
and line breaks, is filled as well."""


def wrap(text, width):
    lines, line = [], ''
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = f'{line} {word}' if line else word
    return lines + [line] if line else lines


def justify(line, width):
    words = line.split()
    if len(words) == 1:
        return line.ljust(width)
    gaps = len(words) - 1
    spaces = width - sum(map(len, words))
    out = []
    for index, word in enumerate(words[:-1]):
        out.append(word + ' ' * (spaces // gaps + (index < spaces % gaps)))
    return ''.join(out) + words[-1]


for width in (30, 44):
    print('-' * width)
    for paragraph in TEXT.split('\n\n'):
        lines = wrap(paragraph, width)
        for line in lines[:-1]:
            print('|' + justify(line, width) + '|')
        print('|' + lines[-1].ljust(width) + '|')
print(TEXT.title()[:60], TEXT.swapcase()[:40])
print(sorted(set(TEXT.lower()) - set(' \n.,;-')))
print([word.strip('.,;').center(9, '*') for word in TEXT.split()[:5]])
