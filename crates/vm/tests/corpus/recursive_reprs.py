from dataclasses import dataclass, field
from collections import deque, OrderedDict, defaultdict, Counter, UserList
from types import SimpleNamespace
@dataclass
class Node:
    val: int
    children: list = field(default_factory=list)
    parent: 'Node | None' = None
root = Node(1); kid = Node(2, parent=root); root.children.append(kid)
print(root); print(kid); print([kid, kid]); print({'k': kid})
d = deque([1]); d.append(d); print(d)
o = OrderedDict(); o['o'] = o; print(o)
dd = defaultdict(list); dd['x'].append(dd); print(dd)
nested = defaultdict(lambda: defaultdict(int)); nested['a']['b'] += 1; print(nested['a'], nested['a'] == {'b': 1})
l = [1]; l.append(l); l.append({'l': l}); print(l)
class Box:
    def __init__(self, x): self.x = x
    def __repr__(self): return f'Box({self.x!r})'
b = Box([]); b.x.append(b.x); print(b)
l = [Box(1)]; l.append(l); print(l)
t = ([Box(1)],); t[0].append(t); print(t)
s = SimpleNamespace(a=1); s.me = s; print(s)
dct = {'b': Box(2)}; dct['self'] = dct; print(dct)
class L(list): pass
x = L([1]); x.append(x); print(x)
