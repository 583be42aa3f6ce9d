import re
from dataclasses import dataclass, field


@dataclass
class Room:
    name: str
    text: str
    exits: dict = field(default_factory=dict)
    items: set = field(default_factory=set)


class Game:
    OPPOSITE = {'north': 'south', 'south': 'north', 'east': 'west', 'west': 'east'}

    def __init__(self):
        self.rooms, self.bag, self.moves, self.over = {}, [], 0, False
        self.commands = {name[3:]: getattr(self, name) for name in dir(self) if name.startswith('do_')}

    def room(self, name, text, *items):
        self.rooms[name] = Room(name, text, items=set(items))
        return self.rooms[name]

    def link(self, a, direction, b, locked=False):
        self.rooms[a].exits[direction] = [b, locked]
        self.rooms[b].exits[self.OPPOSITE[direction]] = [a, False]

    def begin(self, name):
        self.here = self.rooms[name]
        return self.do_look()

    def do_look(self):
        """Looks around."""
        seen = f' You see: {", ".join(sorted(self.here.items))}.' if self.here.items else ''
        return f'[{self.here.name}] {self.here.text}{seen} Exits: {" ".join(sorted(self.here.exits))}.'

    def do_go(self, direction):
        """Goes somewhere."""
        if direction not in self.here.exits:
            return 'There is no way.'
        target, locked = self.here.exits[direction]
        if locked and 'key' not in self.bag:
            return 'It is locked.'
        self.moves += 1
        self.here = self.rooms[target]
        if target == 'garden':
            self.over = True
        return self.do_look()

    def do_take(self, *items):
        """Takes things."""
        out = []
        for item in items:
            if item == 'all':
                out += [self.do_take(*sorted(self.here.items))] if self.here.items else ['Nothing here.']
            elif item in self.here.items:
                self.here.items.remove(item)
                self.bag.append(item)
                out.append(f'Taken: {item}.')
            else:
                out.append(f'No {item} here.')
        return ' '.join(out)

    def do_bag(self):
        """Shows the bag."""
        return ', '.join(self.bag) or 'empty'

    def do_help(self):
        """Helps."""
        return '; '.join(f'{name}: {function.__doc__}' for name, function in sorted(self.commands.items()))

    def play(self, line):
        words = re.findall(r'\w+', line.lower())
        if not words:
            return 'Pardon?'
        if words[0] in self.OPPOSITE:
            words.insert(0, 'go')
        command = self.commands.get(words[0])
        if command is None:
            return f'I do not know how to {words[0]}.'
        try:
            return command(*words[1:])
        except TypeError:
            return f'{words[0].title()} what?'


game = Game()
game.room('hall', 'A dusty hall.', 'lamp', 'letter')
game.room('cellar', 'Dark and damp.', 'key')
game.room('garden', 'Fresh air!')
game.link('hall', 'south', 'cellar')
game.link('hall', 'east', 'garden', locked=True)
print(game.begin('hall'))
for line in ('help', 'take lamp', 'east', 'go', 'dance', '', 'south', 'take all', 'take all', 'take sword', 'bag', 'north', 'Go East!'):
    print('>', line)
    print(game.play(line))
    if game.over:
        print('Done in', game.moves)
        break
