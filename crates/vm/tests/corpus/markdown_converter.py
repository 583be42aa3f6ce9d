import re

SOURCE = '''# Title with *emphasis*

Some **bold** text, `code <b>` and a [link](http://example.com/?a=1&b=2).
Second line of the paragraph.

- first item
- second **item**
- third

1. one
2. two

> quoted text
> more of it

```
def f(x):
    return x < 1
```

## Sub *title* ##
Last paragraph'''


def escape(text):
    return text.replace('&', '&amp;').replace('<', '&lt;').replace('>', '&gt;')


def inline(text):
    parts = re.split(r'(`[^`]*`)', text)
    out = []
    for part in parts:
        if part.startswith('`') and part.endswith('`') and len(part) > 1:
            out.append('<code>' + escape(part[1:-1]) + '</code>')
            continue
        part = escape(part)
        part = re.sub(r'\*\*(.+?)\*\*', r'<b>\1</b>', part)
        part = re.sub(r'\*(.+?)\*', r'<i>\1</i>', part)
        part = re.sub(r'\[([^\]]+)\]\(([^)]+)\)', lambda m: '<a href="%s">%s</a>' % (m[2], m[1]), part)
        out.append(part)
    return ''.join(out)


def blocks(lines):
    lines = iter(lines)
    paragraph = []
    for line in lines:
        heading = re.match(r'(#{1,6})\s+(.*?)\s*#*$', line)
        item = re.match(r'(?:-|(\d+)\.)\s+(.*)', line)
        if not line.strip() or heading or item or line.startswith(('>', '```')):
            if paragraph:
                yield 'p', paragraph
                paragraph = []
        if heading:
            yield 'h%d' % len(heading[1]), [heading[2]]
        elif item:
            yield ('ol' if item[1] else 'ul'), [item[2]]
        elif line.startswith('>'):
            yield 'blockquote', [line[1:].strip()]
        elif line.startswith('```'):
            code = []
            for line in lines:
                if line.startswith('```'):
                    break
                code.append(line)
            yield 'pre', code
        elif line.strip():
            paragraph.append(line)
    if paragraph:
        yield 'p', paragraph


def merged(source):
    last = None
    for kind, lines in source:
        if last and last[0] == kind and kind in ('ul', 'ol', 'blockquote'):
            last[1].extend(lines)
            continue
        if last:
            yield last
        last = (kind, list(lines))
    if last:
        yield last


def convert(source):
    for kind, lines in merged(blocks(source.split('\n'))):
        if kind in ('ul', 'ol'):
            yield f'<{kind}>' + ''.join(f'<li>{inline(line)}</li>' for line in lines) + f'</{kind}>'
        elif kind == 'pre':
            yield '<pre>' + escape('\n'.join(lines)) + '</pre>'
        else:
            yield f'<{kind}>{inline(" ".join(lines))}</{kind}>'


print('\n'.join(convert(SOURCE)))
