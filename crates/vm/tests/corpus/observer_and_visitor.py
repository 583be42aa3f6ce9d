class Visitor:
    def visit(self, node, *args):
        for cls in type(node).__mro__:
            method = getattr(self, 'visit_' + cls.__name__.lower(), None)
            if method:
                return method(node, *args)
        raise NotImplementedError(type(node).__name__)


class Node:
    def __init__(self, *children, **attrs):
        self.children = children
        self.__dict__.update(attrs)

    def __iter__(self):
        yield self
        for child in self.children:
            if isinstance(child, Node):
                yield from child


class Element(Node):
    pass


class Text(Node):
    pass


class Comment(Node):
    pass


class Html(Visitor):
    def visit_element(self, node, depth=0):
        pad = '  ' * depth
        attrs = ''.join(f' {k}="{v}"' for k, v in sorted(vars(node).items()) if k not in ('children', 'tag'))
        inner = ''.join(self.visit(child, depth + 1) for child in node.children)
        return f'{pad}<{node.tag}{attrs}>\n{inner}{pad}</{node.tag}>\n'

    def visit_text(self, node, depth=0):
        return '  ' * depth + node.value + '\n'


class Counter(Visitor):
    def __init__(self):
        self.counts = {}

    def visit_node(self, node):
        name = type(node).__name__
        self.counts[name] = self.counts.get(name, 0) + 1
        for child in node.children:
            self.visit(child)
        return self.counts


tree = Element(Text(value='Title'), Element(Text(value='item'), Element(tag='br'), tag='p', id='x', lang='en'), tag='body')
print(Html().visit(tree), end='')
print(Counter().visit(tree), [getattr(n, 'tag', n.__dict__.get('value')) for n in tree])
try:
    Html().visit(Element(Comment(), tag='a'))
except NotImplementedError as error:
    print('cannot', error)


class Observable:
    def __init__(self):
        super().__setattr__('_watchers', {})

    def watch(self, name, function):
        self._watchers.setdefault(name, []).append(function)
        return lambda: self._watchers[name].remove(function)

    def __setattr__(self, name, value):
        old = getattr(self, name, None)
        super().__setattr__(name, value)
        if old != value:
            for function in list(self._watchers.get(name, ())):
                function(old, value)


log = []
o = Observable()
stop = o.watch('x', lambda old, new: log.append((old, new)))
o.watch('x', lambda old, new: setattr(o, 'double', new * 2))
o.watch('double', lambda old, new: log.append(('double', new)))
o.x = 1
o.x = 1
o.x = 5
stop()
o.x = 7
print(log, o.double)


class Maybe:
    def __init__(self, value):
        self.value = value

    def __getattr__(self, name):
        return Maybe(getattr(self.value, name, None) if self.value is not None else None)

    def __call__(self, *args):
        return Maybe(self.value(*args) if callable(self.value) else None)

    def __getitem__(self, key):
        try:
            return Maybe(self.value[key])
        except (KeyError, IndexError, TypeError):
            return Maybe(None)

    def __or__(self, default):
        return default if self.value is None else self.value


data = Maybe({'user': {'name': 'ann', 'tags': ['a', 'b']}})
print(data['user']['name'].upper() | '?', data['nobody']['name'].upper() | '?', data['user']['tags'][1] | '-', data['user']['tags'][9] | '-', data['user'].keys() | 0)
