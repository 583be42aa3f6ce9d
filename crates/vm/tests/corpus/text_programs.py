# text processing programs
text = """Lorem ipsum dolor sit amet, consectetur adipiscing elit.
Sed do eiusmod tempor incididunt ut labore et dolore magna aliqua!

Ut enim ad minim veniam; quis nostrud exercitation?"""
import string, re
from collections import Counter
words = [w.strip(string.punctuation).lower() for w in text.split()]
print(len(words), Counter(words).most_common(3), sorted(set(words), key=lambda w: (-len(w), w))[:4])
for i, line in enumerate(text.splitlines(), 1): print(f'{i:02d}|{line:<70.30}|{len(line):>3}')
print('-' * 20, '='.center(20, '~'), sep='\n')
table = [('name', 'qty', 'price'), ('apple', 3, 1.5), ('watermelon', 10, 22.25), ('fig', 100, 0.333)]
widths = [max(len(str(r[c])) for r in table) for c in range(3)]
for r in table: print(' | '.join(f'{v:>{w}}' if not isinstance(v, str) else f'{v:<{w}}' for v, w in zip(r, widths)))
for r in table[1:]: print('{0:<12}{1:^8d}{2:>10.2f}'.format(*r), '%-12s%8d%10.3f' % r)
def caesar(s, k): return ''.join(chr((ord(c) - b + k) % 26 + b) if c.isalpha() and (b := 97 if c.islower() else 65) else c for c in s)
print(caesar('Hello, World!', 3), caesar(caesar('Hello, World!', 3), -3))
def rle(s): return re.sub(r'(.)\1*', lambda m: m[1] + str(len(m[0])), s) if False else ''.join(f'{k}{len(list(g))}' for k, g in __import__('itertools').groupby(s)) if False else s
from itertools import groupby
print(''.join(f'{k}{len(list(g))}' for k, g in groupby('aaabbc')), ''.join(c * int(n) for c, n in re.findall(r'(\D)(\d+)', 'a3b2c1')))
print(*(f'{n}: ' + ('FizzBuzz' if n % 15 == 0 else 'Buzz' if n % 5 == 0 else 'Fizz' if n % 3 == 0 else str(n)) for n in range(10, 16)), sep='\n')
def roman(n):
    out = ''
    for v, s in zip([1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1], 'M CM D CD C XC L XL X IX V IV I'.split()):
        q, n = divmod(n, v); out += s * q
    return out
print([roman(n) for n in (1994, 4, 2024)])
print('racecar'[::-1] == 'racecar', ''.join(sorted('listen')) == ''.join(sorted('silent')), 'abc'.translate(str.maketrans('abc', 'xyz')), '%08.3f|%+d|%x|%e' % (3.14159, 5, 255, 12345.678))
def to_snake(s): return re.sub(r'(?<!^)(?=[A-Z])', '_', s).lower() if False else ''.join('_' + c.lower() if c.isupper() else c for c in s).lstrip('_')
print(to_snake('helloWorldFooBar'), ''.join(w.capitalize() for w in 'snake_case_name'.split('_')), 'kebab-case'.replace('-', ' ').title())
csv = 'id,name,score\n1,ann,90\n2,bob,85\n3,"c, d",70'
def parse(line):
    out, cur, q = [], '', False
    for ch in line:
        if ch == '"': q = not q
        elif ch == ',' and not q: out.append(cur); cur = ''
        else: cur += ch
    return out + [cur]
head, *rows = map(parse, csv.splitlines()); recs = [dict(zip(head, r)) for r in rows]
print(recs, sum(int(r['score']) for r in recs) / len(recs), max(recs, key=lambda r: int(r['score']))['name'])
print('\n'.join(' ' * (4 - i) + '*' * (2 * i - 1) for i in range(1, 5)))
print(f"{'left':<10}|{'right':>10}|{'mid':^10}|{3.14159:.3}|{1234567:_}|{0.5:.0%}|{255:#06x}|{-5:+}|{'x':*>3}|{True!s:>6}|{None!r}")
print(repr("tab\t nl\n quote' dq\" bs\\ uni\u00e9 nul\0 bell\a del\x7f"), str(['a\n', "b'"]), '\u0041', '\x41', r'\x41', b'\x41', '\\n')
print('{:>10}'.format('é'), '{:10}|'.format('日本'), 'ÄÖÜ'.lower(), 'straße'.upper(), 'ﬃ'.upper(), 'ŉ'.upper(), 'Ω'.lower(), 'ǆ'.upper())
print(' '.join(f'{ord(c):04x}' for c in 'aé😀'), 'a\u0301' == 'á', len('a\u0301'), [c for c in 'né'], '😀' > 'z', sorted('zéa'), 'É'.casefold() == 'é', 'x'.isprintable(), '\u200b'.isprintable(), '１２'.isdigit(), int('１２') if False else '')
lines = ['b 2', 'a 10', 'a 9', 'c']
print(sorted(lines), sorted(lines, key=lambda s: [int(t) if t.isdigit() else t for t in re.findall(r'\d+|\D+', s)]), sorted(lines, key=len), min(lines), max(lines, key=lambda s: s[::-1]))
print("yes" if re.fullmatch(r'[\w.+-]+@[\w-]+\.[\w.]+', 'a.b+c@ex-ample.co.uk') else 'no', re.split(r'\W+', 'a, b;c  d'), re.sub(r'(\w)(\w*)', lambda m: m[2] + m[1] + 'ay', 'pig latin'), re.findall(r'\b\w{4}\b', 'this that these those'))
print(''.join(reversed('abc')), 'a-b-c'.rsplit('-', 1), 'abc'.zfill(5), 'a\tb'.expandtabs(8), 'AbC'.swapcase(), 'x'.join('abc'), 'aXbX'.split('X'), 'hello'.find('z'), 'hello'.rindex('l'), '  '.isspace(), ''.isspace(), 'abc'.isalnum(), 'Hello World'.istitle(), '%' in '100%', '50%%' % (), 'a%%b' % ())
