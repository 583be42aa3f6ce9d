import cowboy

registry = {'list': [1, 2], 'self': None}
registry['self'] = registry


class Node:
    def __init__(self, name):
        self.name = name
        self.links = []


def counter():
    count = 0

    def up():
        nonlocal count
        count += 1
        return count

    def get():
        return count

    return up, get


up, get = counter()
ring = [Node('a'), Node('b')]
ring[0].links.append(ring[1])
ring[1].links.append(ring[0])


async def child(node, shared):
    shared.append(node.name)
    try:
        value = await cowboy.submit_job(node.name)
    except RuntimeError as error:
        value = error.args
    shared.append(value)
    up()
    return shared


async def main():
    global registry
    mine = registry['list']
    alias = mine
    key = ring[0]
    marks = {key: 'first', child: 'function', Node: 'class', (1, 'x'): 'pair', 2**70: 'big'}
    out = []
    for n in range(5):
        result = await child(ring[n % 2], mine)
        up()
        out.append((result is mine, alias is registry['list'], registry['self'] is registry))
        out.append((ring[0].links[0].links[0] is key, marks[ring[0]], marks[child], marks[Node]))
        out.append((marks[(1, 'x')], marks[2**70], get(), len(mine)))
    registry = None
    return repr((out, mine))
