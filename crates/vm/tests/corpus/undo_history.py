from contextlib import contextmanager, ExitStack, suppress, nullcontext, closing


class Document:
    def __init__(self):
        self.text, self.undone, self.done, self.depth = '', [], [], 0

    def do(self, command):
        command.apply(self)
        self.done.append(command)
        self.undone.clear()

    def undo(self):
        if not self.done:
            raise IndexError('nothing to undo')
        command = self.done.pop()
        command.revert(self)
        self.undone.append(command)

    def redo(self):
        command = self.undone.pop()
        command.apply(self)
        self.done.append(command)

    @contextmanager
    def group(self, name):
        mark = len(self.done)
        self.depth += 1
        try:
            yield self
        except Exception:
            while len(self.done) > mark:
                self.undo()
            raise
        else:
            commands = self.done[mark:]
            del self.done[mark:]
            self.done.append(Group(name, commands))
        finally:
            self.depth -= 1


class Insert:
    def __init__(self, at, text):
        self.at, self.text = at, text

    def apply(self, document):
        document.text = document.text[:self.at] + self.text + document.text[self.at:]

    def revert(self, document):
        document.text = document.text[:self.at] + document.text[self.at + len(self.text):]


class Delete:
    def __init__(self, start, end):
        self.start, self.end = start, end

    def apply(self, document):
        self.gone = document.text[self.start:self.end]
        document.text = document.text[:self.start] + document.text[self.end:]

    def revert(self, document):
        Insert(self.start, self.gone).apply(document)


class Group:
    def __init__(self, name, commands):
        self.name, self.commands = name, commands

    def apply(self, document):
        for command in self.commands:
            command.apply(document)

    def revert(self, document):
        for command in reversed(self.commands):
            command.revert(document)


d = Document()
d.do(Insert(0, 'hello'))
d.do(Insert(5, ' world'))
d.do(Delete(0, 1))
print(d.text)
d.undo()
d.undo()
print(d.text)
d.redo()
print(d.text, len(d.done), len(d.undone))
with d.group('shout') as g:
    g.do(Insert(0, '>> '))
    g.do(Insert(len(g.text), '!'))
print(d.text, len(d.done), d.done[-1].name)
d.undo()
print(d.text)
with suppress(ValueError):
    with d.group('fails'):
        d.do(Insert(0, 'lost'))
        raise ValueError
print(d.text, d.depth)
d.redo() if d.undone and isinstance(d.undone[-1], Group) else print('no group to redo')
while True:
    try:
        d.undo()
    except IndexError as error:
        print(error, repr(d.text))
        break
log = []
with ExitStack() as stack:
    for n in range(3):
        stack.callback(log.append, n)
    stack.enter_context(suppress(KeyError))
    log.append('body')
print(log)


class Thing:
    def close(self):
        log.append('closed')


with closing(Thing()) as thing, nullcontext(5) as five:
    log.append(five)
print(log)


@contextmanager
def swallow(*kinds):
    try:
        yield
    except kinds as error:
        log.append(repr(error))


with swallow(KeyError, ZeroDivisionError):
    1 / 0
print(log[-1])
