import re
print(re.findall(r'(\w+)\s*=\s*("[^"]*"|\S+)', 'a = 1 b="x y" c=z'), re.sub(r'\s+', ' ', ' a \n b\t'), re.split(r'\W+', 'a, b; c.', maxsplit=2))
print(re.match(r'(?P<h>\d+):(?P<m>\d+)', '12:34').groupdict(), re.search(r'o+', 'foo boo').span(), [m.group(0) for m in re.finditer(r'[aeiou]', 'education')])
print(re.sub(r'(\d+)', lambda m: str(int(m.group(1)) * 2), 'a1b22'), re.fullmatch(r'\w+@\w+\.\w{2,3}', 'a@b.com') is not None, re.compile(r'^\s*#').match('  # c') is not None)
print(re.sub('(a)(b)?', r'[\1|\2]', 'ab a'), re.findall('a|ab', 'abab'), re.findall(r'\d{2,}', '1 22 333'), re.escape('[x].*'), re.split('([,;])', 'a,b;c'))
print(re.findall(r'^\w', 'a\nb', re.M), re.findall('.+', 'a\nb', re.S), re.findall('A', 'aA', re.I), re.findall(r'\bfoo\b', 'foo food foo'), re.sub('^', '> ', 'a\nb', flags=re.M))
p = re.compile(r'(?P<y>\d{4})-(?P<m>\d{2})(?:-(?P<d>\d{2}))?')
for t in ('2020-01', '2020-01-05', 'x'):
    m = p.match(t); print(m and (m.groups(), m.groupdict('?'), m['y'], m.start('m'), m.end(), m.lastgroup, m.lastindex))
print(p.pattern, p.groups, p.groupindex, p.sub(r'\g<m>/\g<y>', '2020-01 2021-02'))
print(re.search('(?i)HELLO', 'say hello')[0], re.search(r'a.c', 'a\nc'), re.search(r'a.c', 'a\nc', re.DOTALL)[0] == 'a\nc', re.findall(r'(?:ab)+', 'ababab ab'), re.findall('(ab)+', 'ababab ab'))
try: re.compile('(')
except re.error as e: print(e, e.pos, e.msg)
def tokenize(s):
    spec = [('NUM', r'\d+(\.\d*)?'), ('ID', r'[A-Za-z_]\w*'), ('OP', r'[+\-*/()=]'), ('WS', r'[ \t]+'), ('NL', r'\n'), ('BAD', r'.')]
    rx = re.compile('|'.join(f'(?P<{n}>{r})' for n, r in spec))
    line, start = 1, 0
    for m in rx.finditer(s):
        k = m.lastgroup
        if k == 'NL': line += 1; start = m.end(); continue
        if k == 'WS': continue
        if k == 'BAD': raise SyntaxError(f'{m.group()!r} line {line} col {m.start() - start}')
        yield k, m.group(), line, m.start() - start
print(list(tokenize('x = 3.5 * (y1 - 2)\nz = x')))
try: list(tokenize('a\nb $'))
except SyntaxError as e: print(e)
def strip_html(s): return re.sub(r'<[^>]+>', '', re.sub(r'<(script|style).*?</(?:script|style)>', '', s, flags=re.S | re.I))
print(strip_html('<p>Hi <b>you</b></p><SCRIPT>x<y</SCRIPT>!'))
def slug(s): return re.sub(r'[^a-z0-9]+', '-', s.lower()).strip('-')
print(slug('  Hello, World! -- Again '), re.sub(r'(?<!x)y', '', 'a') if False else '')
print([re.sub(r'\B(\w)', r'_\1', w) for w in ('abc',)], re.findall(r'[\w.-]+@[\w.-]+', 'mail a.b@c.d, e-f@g.h!'), re.findall(r'#(\w+)', '#one two #three'), re.findall(r'\$(\d+(?:\.\d\d)?)', 'cost $5 or $6.50'))
print(re.findall(r'"((?:[^"\\]|\\.)*)"', r'say "a\"b" and "c"'), re.findall(r'(\w)(\w)', 'abcd'), re.findall(r'x?', 'axb'), re.subn('x', 'y', 'xxx'), bool(re.match('', '')), re.findall(r'[^\W\d_]+', 'ab1 c_d é'))
ipv4 = re.compile(r'^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$') if False else re.compile(r'^(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?:25[0-5]|2[0-4]\d|1?\d?\d)){3}$')
print([bool(ipv4.match(s)) for s in ('192.168.1.1', '256.1.1.1', '1.2.3', '0.0.0.0', '1.2.3.4.5')])
print(re.match(r'(a+)(a*)', 'aaa').groups(), re.match(r'(a+?)(a*)', 'aaa').groups(), re.match(r'(a*?)$', 'aaa').group(1), re.match(r'(?:(a)|b)*', 'ab').groups(), re.search(r'(b|a|ab)c', 'abc').group())
print(re.split(r'(?:\r\n|\r|\n)', 'a\r\nb\nc\rd'), re.sub(r'\\n', '\n', r'a\nb'), re.sub('x', r'\\', 'axb'), re.sub('x', '\\t', 'axb'), re.findall('[]a]', 'a]b'), re.findall('[a\\-z]', 'a-mz'), re.findall(r'[\d\-]+', '12-34'))
