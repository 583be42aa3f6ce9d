from collections import defaultdict, deque


class Graph:
    def __init__(self, edges=(), directed=False):
        self.adjacent = defaultdict(dict)
        self.directed = directed
        for a, b, *weight in edges:
            self.add(a, b, *weight)

    def add(self, a, b, weight=1):
        self.adjacent[a][b] = weight
        self.adjacent[b]
        if not self.directed:
            self.adjacent[b][a] = weight

    def __getitem__(self, node):
        return self.adjacent[node]

    def __iter__(self):
        return iter(sorted(self.adjacent))

    def edges(self):
        for a in self:
            for b, weight in sorted(self[a].items()):
                if self.directed or a < b:
                    yield weight, a, b


def bfs(graph, start):
    seen, queue, order = {start}, deque([start]), []
    while queue:
        node = queue.popleft()
        order.append(node)
        for other in sorted(graph[node]):
            if other not in seen:
                seen.add(other)
                queue.append(other)
    return order


def topological(graph):
    state, order = {}, []

    def visit(node, trail):
        if state.get(node) == 1:
            raise ValueError('cycle: ' + ' -> '.join(trail + [node]))
        if state.get(node):
            return
        state[node] = 1
        for other in sorted(graph[node]):
            visit(other, trail + [node])
        state[node] = 2
        order.append(node)

    for node in graph:
        visit(node, [])
    return order[::-1]


class Sets:
    def __init__(self):
        self.parent = {}

    def find(self, x):
        self.parent.setdefault(x, x)
        while self.parent[x] != x:
            self.parent[x] = self.parent[self.parent[x]]
            x = self.parent[x]
        return x

    def union(self, a, b):
        a, b = self.find(a), self.find(b)
        self.parent[a] = b
        return a != b


def kruskal(graph):
    sets = Sets()
    return [edge for edge in sorted(graph.edges()) if sets.union(edge[1], edge[2])]


def floyd(graph):
    far = float('inf')
    nodes = list(graph)
    distance = {a: {b: 0 if a == b else graph[a].get(b, far) for b in nodes} for a in nodes}
    for k in nodes:
        for i in nodes:
            for j in nodes:
                through = distance[i][k] + distance[k][j]
                if through < distance[i][j]:
                    distance[i][j] = through
    return distance


roads = Graph([('a', 'b', 4), ('a', 'c', 1), ('c', 'b', 2), ('b', 'd', 5), ('c', 'd', 8), ('d', 'e', 3), ('f', 'g', 1)])
print(bfs(roads, 'a'), bfs(roads, 'f'))
print(kruskal(roads))
distances = floyd(roads)
print(distances['a'], distances['e']['c'], distances['a']['g'])
tasks = Graph([('shirt', 'tie'), ('tie', 'jacket'), ('trousers', 'shoes'), ('trousers', 'belt'), ('belt', 'jacket'), ('socks', 'shoes')], directed=True)
print(topological(tasks))
tasks.add('jacket', 'shirt')
try:
    topological(tasks)
except ValueError as error:
    print(error)


def components(graph):
    index, low, stack, out = {}, {}, [], []

    def strong(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(graph[node]):
            if other not in index:
                strong(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            at = stack.index(node)
            out.append(sorted(stack[at:]))
            del stack[at:]

    for node in graph:
        if node not in index:
            strong(node)
    return out


print(components(tasks))
