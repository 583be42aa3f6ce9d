class Random:
    def __init__(self, seed=1):
        self.state = seed

    def bits(self):
        self.state ^= self.state << 13 & 0xffffffffffffffff
        self.state ^= self.state >> 7
        self.state ^= self.state << 17 & 0xffffffffffffffff
        return self.state

    def below(self, n):
        return self.bits() % n

    def random(self):
        return (self.bits() >> 11) / 2**53

    def choice(self, items):
        return items[self.below(len(items))]

    def shuffle(self, items):
        for i in range(len(items) - 1, 0, -1):
            j = self.below(i + 1)
            items[i], items[j] = items[j], items[i]
        return items

    def sample(self, items, k):
        return self.shuffle(list(items))[:k]


random = Random(2024)
print([random.below(100) for _ in range(8)], random.choice('abcdef'), random.shuffle(list(range(8))), round(random.random(), 6), random.sample(range(50), 5))
TARGET = 'EVOLVE'
LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'


def fitness(text):
    return sum(a == b for a, b in zip(text, TARGET))


def mutate(text):
    at = random.below(len(text))
    return text[:at] + random.choice(LETTERS) + text[at + 1:]


def cross(a, b):
    at = random.below(len(a))
    return a[:at] + b[at:]


population = [''.join(random.choice(LETTERS) for _ in TARGET) for _ in range(20)]
generation = 0
while max(map(fitness, population)) < len(TARGET) and generation < 150:
    population.sort(key=fitness, reverse=True)
    parents = population[:6]
    population = parents + [mutate(cross(random.choice(parents), random.choice(parents))) for _ in range(14)]
    generation += 1
print(generation, max(population, key=fitness))
inside = sum(random.random() ** 2 + random.random() ** 2 < 1 for _ in range(3000))
print(4 * inside / 3000)
position, trail = (0, 0), []
for _ in range(30):
    dx, dy = random.choice([(0, 1), (1, 0), (0, -1), (-1, 0)])
    position = position[0] + dx, position[1] + dy
    trail.append(position)
print(position, len(set(trail)), trail[:5])
cells = 1 << 31
rule = 110
for _ in range(8):
    print(''.join('#' if cells >> i & 1 else '.' for i in range(39, -1, -1)))
    cells = sum((rule >> (cells >> i - 1 & 7 if i else cells << 1 & 7) & 1) << i for i in range(40))
deck = [rank + suit for suit in 'SHDC' for rank in 'A23456789TJQK']
hands = [sorted(random.sample(deck, 5)) for _ in range(2)]
print(hands, len({card for hand in hands for card in hand}))
queue, served, clock = [], 0, 0
for minute in range(50):
    if random.below(3) == 0:
        queue.append(minute)
    if queue and random.below(2):
        clock += minute - queue.pop(0)
        served += 1
print(served, clock, len(queue))
