# A generator that only a loop has is closed where the loop is left.
def rows(name='rows'):
    try:
        yield 1
        yield 2
    finally:
        print(name, 'closed')
for v in rows(): break
print('after break')
def first():
    for v in rows('first'):
        return v
print(first())
class Tree:
    def __iter__(self):
        try:
            yield from (1, 2, 3)
        finally:
            print('tree closed')
t = Tree()
for v in t:
    if v == 2: break
print('after tree')
g = rows('kept')
for v in g: break
print('still open', next(g))
g.close()
h = iter(t)
for v in h: break
print('still open', next(h), list(h))
for a in rows('outer'):
    for b in rows('inner'):
        break
    else:
        print('never')
    print('between')
    break
for v in rows('whole'): pass
print('ended')
class Manager:
    def __enter__(self): print('enter'); return self
    def __exit__(self, *details): print('exit', details[0])
def managed():
    with Manager():
        yield 1
        yield 2
for v in managed(): break
def loud():
    try: yield 1
    finally: print('loud')
def twice():
    for _ in range(2):
        for v in loud():
            try: break
            finally: print('finally of the loop')
twice()
while True:
    for v in rows('in while'): break
    break
stored = [rows('stored')]
for v in stored[0]: break
print('stored', next(stored[0]), list(stored[0]))
for i, v in enumerate(range(3)): break
print(i, v)
