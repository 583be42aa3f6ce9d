import sys
from types import SimpleNamespace


class ArgError(Exception):
    pass


class Parser:
    def __init__(self, name):
        self.name, self.positional, self.options, self.commands = name, [], {}, {}

    def add(self, *flags, kind=str, default=None, many=False, required=False):
        if flags[0].startswith('-'):
            option = SimpleNamespace(name=flags[-1].lstrip('-').replace('-', '_'), kind=kind, default=default, many=many, required=required)
            for flag in flags:
                self.options[flag] = option
        else:
            self.positional.append(SimpleNamespace(name=flags[0], kind=kind, many=many, default=default))
        return self

    def command(self, name):
        self.commands[name] = Parser(f'{self.name} {name}')
        return self.commands[name]

    def parse(self, args):
        values = {o.name: ([] if o.many else False if o.kind is bool else o.default) for o in self.options.values()}
        rest, args = [], list(args)
        while args:
            arg = args.pop(0)
            if arg == '--':
                rest.extend(args)
                break
            flag, eq, inline = arg.partition('=')
            if flag in self.options:
                option = self.options[flag]
                if option.kind is bool:
                    values[option.name] = True
                    continue
                if not eq and not args:
                    raise ArgError(f'{flag} needs a value')
                try:
                    value = option.kind(inline if eq else args.pop(0))
                except ValueError as error:
                    raise ArgError(f'{flag}: {error}') from error
                if option.many:
                    values[option.name].append(value)
                else:
                    values[option.name] = value
            elif arg.startswith('-') and len(arg) > 1:
                raise ArgError(f'unknown option {arg}')
            elif self.commands and arg in self.commands:
                values['command'] = arg
                values.update(vars(self.commands[arg].parse(args)))
                return SimpleNamespace(**values)
            else:
                rest.append(arg)
        for place in self.positional:
            if place.many:
                values[place.name], rest = [place.kind(x) for x in rest], []
            elif rest:
                values[place.name] = place.kind(rest.pop(0))
            elif place.default is None:
                raise ArgError(f'{self.name}: missing {place.name}')
            else:
                values[place.name] = place.default
        if rest:
            raise ArgError(f'unexpected {rest}')
        return SimpleNamespace(**values)


parser = Parser('tool').add('-v', '--verbose', kind=bool).add('--level', kind=int, default=1).add('-t', '--tag', many=True)
parser.command('copy').add('source').add('target', default='.')
parser.command('sum').add('numbers', kind=float, many=True).add('--dry-run', kind=bool)
for line in ('copy a b', '-v copy a', '--level=5 -t x -t y sum 1 2.5 3 --dry-run', '--level x copy a', 'copy', '--bad', '--level', 'sum 1 two', 'copy a b c', 'sum -- -1 -2'):
    try:
        print(line, '=>', parser.parse(line.split()))
    except (ArgError, ValueError) as error:
        print(line, '!!', error, '|', type(error.__cause__).__name__)
n = SimpleNamespace(a=1, b=[2])
n.c = n.a + 1
print(n, n == SimpleNamespace(a=1, b=[2], c=2), vars(n), hasattr(n, 'z'))
sys.stdout.write('written\n')
print('to', 'stdout', sep='-', end='!\n', file=sys.stdout)
print(sys.maxsize > 2**40, len(sys.argv) >= 1)
