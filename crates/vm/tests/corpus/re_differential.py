import re

patterns = [
    r'a', r'ab*', r'(a|b)+', r'a{2,3}', r'a{2,3}?', r'[a-c]+', r'[^a-c]+', r'\d+', r'\w+', r'\s*', r'\bfoo\b',
    r'^a', r'a$', r'(?m)^\w+$', r'(?s)a.b', r'a.b', r'(?i)HELLO', r'(\w+)@(\w+)\.com', r'(?P<y>\d{4})-(?P<m>\d\d)',
    r'x*', r'(x)?y', r'(a)|(b)|(c)', r'(?:ab)+', r'a+?b', r'.*?,', r'[-+]?\d+(?:\.\d+)?', r'\\', r'[\]\-^]', r'',
    r'(a*)(b*)', r'((a)(b)?)+', r'\Afoo', r'bar\Z', r'[.]', r'\.', r'a|ab|abc', r'(?:a|ab)(?:c|bcd)(?:d*)',
    r'"(?:[^"\\]|\\.)*"', r'\B\w', r'[\w.]+', r'[^\s,]+', r'(?x) a  b # comment', r'\x41\u0042', r'(?i:a)b', r'{', r'a{,2}', r'a{1',
    r'é+', r'[à-ü]', r'\S+$', r'(\d+)(?:px|em)', r'<([a-z]+)[^>]*>', r'a??', r'(?:)', r'(a|b)*?c',
]
texts = [
    '', 'a', 'aaa', 'abab', 'abcabc', 'foo bar', 'foobar', 'hello HELLO', 'me@site.com, you@there.com', '2024-05-06',
    'a\nb\nab', 'xxyxy', 'x,y,,z', '-1.5 +22 3.', 'back\\slash', '"quo\\"ted" "two"', ' tabs\tand  spaces ',
    'café été', 'AB ab Ab', '12px 3em 4', '<b class="x">bold</b>', 'abcd', 'a{1', 'aab', '[]-^', 'cababc',
]
for pattern in patterns:
    compiled = re.compile(pattern)
    out = []
    for text in texts:
        for method in (compiled.search, compiled.match, compiled.fullmatch):
            found = method(text)
            out.append(None if found is None else (found.span(), found.groups(), found.groupdict()))
        out.append(compiled.findall(text))
        out.append([m.span() for m in compiled.finditer(text)])
        out.append(compiled.split(text))
        out.append(compiled.sub('<\\g<0>>', text))
        out.append(compiled.subn('-', text, 2))
        out.append(compiled.split(text, 1))
        out.append([m.span() for m in compiled.finditer(text, 1, 4)])
    print(pattern, compiled.groups, out)

for bad in ['(', ')', '[a', '*a', 'a**', 'a{3,2}', '(?P<1>a)', '(?P<n>a)(?P<n>b)', '\\q', '[z-a]', '(?z)', 'a\\']:
    try:
        re.compile(bad)
        print(bad, 'compiled')
    except re.error as error:
        print(bad, error)
