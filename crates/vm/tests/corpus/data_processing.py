text = """id;name;score;tags
1;Ann Smith;93.5;a|b
2;Bob;;c
3;"Cid; Jr";70;
4;Dee;88.25;a|c|d
"""
def parse(line):
    out, cur, q = [], '', False
    for ch in line:
        if ch == '"': q = not q
        elif ch == ';' and not q: out.append(cur); cur = ''
        else: cur += ch
    return out + [cur]
rows = [dict(zip(parse(text.split('\n')[0]), parse(l))) for l in text.strip().split('\n')[1:]]
for r in rows:
    r['score'] = float(r['score']) if r['score'] else None
    r['tags'] = set(filter(None, r['tags'].split('|')))
    r['id'] = int(r['id'])
print([{**r, 'tags': sorted(r['tags'])} for r in rows])
scored = [r for r in rows if r['score'] is not None]
print(sum(r['score'] for r in scored) / len(scored), max(scored, key=lambda r: r['score'])['name'], sorted(set().union(*(r['tags'] for r in rows))))
index = {}
for r in rows:
    for t in sorted(r['tags']): index.setdefault(t, []).append(r['id'])
print(index, {k: len(v) for k, v in index.items()}, [k for k, v in index.items() if len(v) > 1])
print('\n'.join('{id:>3} {name:<12} {score!s:>6}'.format(**r) for r in rows))
print(f"{'name':-^20}|{3.14159:+08.3f}|{1234567:,}|{0.256:.1%}|{255:#06x}|{'r':>3}{'l':<3}|{True!r:>6}|{None!s}")
mean = lambda xs: sum(xs) / len(xs)
def stdev(xs):
    m = mean(xs); return (sum((x - m) ** 2 for x in xs) / (len(xs) - 1)) ** .5
def median(xs):
    s = sorted(xs); n = len(s); return s[n // 2] if n % 2 else (s[n // 2 - 1] + s[n // 2]) / 2
def mode(xs): return max(set(xs), key=lambda x: (xs.count(x), -x))
data = [2, 4, 4, 4, 5, 5, 7, 9]
print(mean(data), stdev(data), median(data), mode(data), [round((x - mean(data)) / stdev(data), 3) for x in data])
hist = {}
for x in data: hist[x // 3] = hist.get(x // 3, 0) + 1
for k in sorted(hist): print(f'{k * 3:>2}-{k * 3 + 2:<2} ' + '*' * hist[k])
def corr(a, b):
    ma, mb = mean(a), mean(b)
    return sum((x - ma) * (y - mb) for x, y in zip(a, b)) / (sum((x - ma) ** 2 for x in a) * sum((y - mb) ** 2 for y in b)) ** .5
print(round(corr([1, 2, 3, 4], [2, 4, 5, 9]), 6))
moving = [mean(data[max(0, i - 2):i + 1]) for i in range(len(data))]
print([round(m, 2) for m in moving], [b - a for a, b in zip(data, data[1:])], list(zip(*[iter(data)] * 2)), [data[i:i + 3] for i in range(0, len(data), 3)])
flat = [x for sub in [[1, [2]], [3]] for x in sub]; print(flat, sum([[1], [2, 3]], []))
print(dict(sorted({'b': 2, 'a': 1}.items())), {v: k for k, v in {'x': 1}.items()}, dict(zip('abc', range(3))), {**{'a': 1}, **{'a': 2}})
matrix = [[1, 2, 3], [4, 5, 6]]
print([list(r) for r in zip(*matrix)], [[row[i] for row in matrix] for i in range(3)], [sum(r) for r in matrix], [max(c) for c in zip(*matrix)])
words = 'the rain in spain stays mainly in the plain'.split()
print({w: words.count(w) for w in dict.fromkeys(words)}, sorted(set(words), key=lambda w: (-len(w), w))[:3], ' '.join(w.capitalize() for w in words), [w for w in words if 'ain' in w], {len(w): [x for x in words if len(x) == len(w)][0] for w in words})
print(*(f'{i}:{w}' for i, w in enumerate(words, 1) if i % 3 == 0), sep=', ')
s = 'hello'
print(s[::-1], s.find('l'), s * 2, s[1:-1], list(s), ''.join(sorted(s)), s.replace('l', 'L', 1), 'll' in s, s.index('o'), s.upper().lower().title(), s.zfill(8), s.center(11, '*'), s.partition('l'), s.encode(), s > 'help', min(s), [*map(ord, s)])
print('%-10s|%5.1f|%03d|%x|%e|%s' % ('left', 3.14159, 7, 255, 12345.678, [1]), '{0!r} {1:^7} {name}'.format('a', 'mid', name='n'))
n = 12345
digits = [int(d) for d in str(n)]; print(sum(digits), digits[::-1], n % 10, n // 100, bin(n).count('1'), f'{n:b}', int(str(n)[::-1]), n.bit_length(), n ** 0.5 // 1, divmod(n, 60))
