import re
from collections import Counter, defaultdict

LOG = """\
127.0.0.1 - - [10/Oct/2000:13:55:36 -0700] "GET /index.html HTTP/1.0" 200 2326
10.0.0.5 - bob [10/Oct/2000:13:55:40 -0700] "POST /login HTTP/1.1" 302 -
10.0.0.5 - bob [10/Oct/2000:13:56:02 -0700] "GET /a b.html HTTP/1.1" 404 512
garbage line
192.168.1.9 - - [11/Oct/2000:01:02:03 +0000] "GET /img/logo.png?v=2&x=%20y HTTP/2" 200 99
10.0.0.5 - - [11/Oct/2000:01:02:04 +0000] "DELETE /item/42 HTTP/1.1" 500 0
"""
LINE = re.compile(r'''
    (?P<host>\d{1,3}(?:\.\d{1,3}){3}) \s - \s (?P<user>\S+) \s
    \[ (?P<day>\d{2})/(?P<month>[A-Z][a-z]{2})/(?P<year>\d{4}) : (?P<time>[\d:]{8}) \s [+-]\d{4} \] \s
    "(?P<method>[A-Z]+) \s (?P<path>[^"]*?) \s HTTP/(?P<version>[\d.]+)" \s
    (?P<status>\d{3}) \s (?P<size>\d+|-)
''', re.VERBOSE)
hits, sizes, bad = Counter(), defaultdict(int), []
for number, line in enumerate(LOG.splitlines(), 1):
    match = LINE.fullmatch(line)
    if not match:
        bad.append(number)
        continue
    entry = match.groupdict()
    hits[entry['status'][0] + 'xx'] += 1
    sizes[entry['host']] += int(entry['size']) if entry['size'] != '-' else 0
    print(number, match['method'], match['path'], match.span('status'), match.lastgroup, match.group('user', 'time'))
print(hits.most_common(), dict(sizes), bad)
print(re.findall(r'\b(\w+)=([^&\s]*)', LOG), re.sub(r'\d+\.\d+\.\d+\.(\d+)', r'x.x.x.\1', LOG.split('\n')[0]))
print(re.split(r'[,;]\s*|\s+and\s+', 'a, b;c and d'), re.split(r'(-)', 'a-b-c'), re.split(r'x*', 'axbc'))
print(re.sub(r'(?P<a>\w)(?P<b>\w)', r'\g<b>\g<a>', 'abcd'), re.sub('a', lambda m: str(m.start()), 'banana'), re.subn('[aeiou]', '', 'education', count=2))
camel = re.sub(r'_([a-z])', lambda m: m[1].upper(), 'snake_case_to_camel')
print(camel, re.sub(r'([A-Z])', r'_\1', camel).lower(), re.escape('a.b*c[d]'), re.match(re.escape('1+1'), '1+1=2').end())
tokens = re.compile(r'(?P<num>\d+)|(?P<id>[a-z]\w*)|(?P<op>[-+*/=])|(?P<ws>\s+)|(?P<bad>.)')
print([(m.lastgroup, m.group()) for m in tokens.finditer('x1 = 42 + y*3 $') if m.lastgroup != 'ws'])
print(bool(re.search(r'^b', 'a\nb')), bool(re.search(r'^b', 'a\nb', re.M)), re.findall(r'(?m)^(\w+):', 'a: 1\nb: 2\nc 3'), re.search('A', 'xa', re.I).span())
email = re.compile(r'^[\w.+-]+@[\w-]+(\.[\w-]+)+$')
print([bool(email.match(text)) for text in ('a@b.co', 'a.b+c@d-e.f.org', 'a@b', '@b.c', 'a b@c.d')])
print(re.compile('a', re.I | re.M), re.match('(a)(b)?', 'ac').groups('-'), re.match('(?:x)(y)', 'xy').group(1), repr(re.search('b+', 'abbb')))
