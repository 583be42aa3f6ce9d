import re

TOKEN = re.compile(r'(\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\})', re.S)


class Template:
    filters = {'upper': str.upper, 'len': len, 'title': str.title, 'join': lambda v, sep=', ': sep.join(map(str, v)), 'default': lambda v, d='-': v or d}

    def __init__(self, text):
        self.tokens = [t for t in TOKEN.split(text) if t]
        self.nodes, rest = self.parse(0, ())
        assert rest == len(self.tokens)

    def parse(self, at, until):
        nodes = []
        while at < len(self.tokens):
            token = self.tokens[at]
            if token.startswith('{{'):
                nodes.append(('value', token[2:-2].strip()))
            elif token.startswith('{#'):
                pass
            elif token.startswith('{%'):
                words = token[2:-2].split()
                if words[0] in until:
                    return nodes, at
                if words[0] == 'for':
                    body, at = self.parse(at + 1, ('endfor',))
                    nodes.append(('for', words[1], ' '.join(words[3:]), body))
                elif words[0] == 'if':
                    yes, at = self.parse(at + 1, ('else', 'endif'))
                    no = []
                    if 'else' in self.tokens[at]:
                        no, at = self.parse(at + 1, ('endif',))
                    nodes.append(('if', ' '.join(words[1:]), yes, no))
                else:
                    raise SyntaxError(f'unknown tag {words[0]!r}')
            else:
                nodes.append(('text', token))
            at += 1
        if until:
            raise SyntaxError(f'missing {until[-1]}')
        return nodes, at

    def lookup(self, text, names):
        path, *filters = [part.strip() for part in text.split('|')]
        if path.startswith('not '):
            return not self.lookup(path[4:], names)
        if path[0] in '"\'':
            value = path[1:-1]
        else:
            first, *rest = path.split('.')
            value = names.get(first)
            for part in rest:
                if isinstance(value, dict):
                    value = value.get(part)
                elif part.isdigit():
                    value = value[int(part)]
                else:
                    value = getattr(value, part, None)
                    value = value() if callable(value) else value
        for name in filters:
            name, _, arg = name.partition(':')
            value = self.filters[name](value, *([arg.strip('"')] if arg else []))
        return value

    def render(self, **names):
        return ''.join(self.walk(self.nodes, names))

    def walk(self, nodes, names):
        for node in nodes:
            match node:
                case 'text', text:
                    yield text
                case 'value', text:
                    yield str(self.lookup(text, names))
                case 'if', test, yes, no:
                    yield from self.walk(yes if self.lookup(test, names) else no, names)
                case 'for', name, source, body:
                    items = list(self.lookup(source, names) or [])
                    for index, item in enumerate(items):
                        loop = {'index': index + 1, 'first': index == 0, 'last': index == len(items) - 1}
                        yield from self.walk(body, {**names, name: item, 'loop': loop})


page = Template('''Dear {{ user.name | title }},{# greeting #}
{% if orders %}you have {{ orders | len }} orders:
{% for order in orders %}{{ loop.index }}. {{ order.item | upper }}{% if order.gift %} (gift){% else %} {{ order.price }}{% endif %}{% if not loop.last %};
{% endif %}{% endfor %}
{% else %}nothing here
{% endif %}Tags: {{ tags | join:"/" }} {{ missing | default:"none" }} {{ tags.0.upper }}''')
print(page.render(user={'name': 'ann lee'}, orders=[{'item': 'pen', 'price': 3}, {'item': 'ink', 'gift': True}], tags=['a', 'b']))
print(page.render(user={'name': 'bob'}, tags=['x']))
for bad in ('{% for x in y %}', '{% what %}', '{% if a %}b'):
    try:
        Template(bad)
    except SyntaxError as error:
        print(error)
