samples = ['', 'a', 'Hello World', '  spaced\tout \n', 'ÀÉî straße', 'MiXeD123', '123', 'x=1;y=2', 'tab\tsep', 'aXbXc', "it's", '\u00bd\u0660', 'line1\nline2\r\nline3']
for s in samples:
    print(repr(s), s.upper(), s.lower(), s.title(), s.capitalize(), s.swapcase(), s.casefold(), len(s))
    print([s.strip(), s.lstrip(), s.rstrip(), s.strip('aH \n')], s.split(), s.split('X'), s.rsplit(None, 1), s.splitlines(), s.splitlines(True))
    print(s.isalpha(), s.isdigit(), s.isalnum(), s.isspace(), s.isupper(), s.islower(), s.istitle(), s.isidentifier(), s.isascii(), s.isprintable(), s.isdecimal())
    print(s.find('l'), s.rfind('l'), s.count('l'), s.replace('l', 'L'), s.replace('', '-')[:20], s.partition('o'), s.rpartition('o'), s.startswith(('H', 'a')), s.endswith('\n'))
    print(s.center(15, '.'), s.ljust(14, '_'), s.rjust(14), s.zfill(14), s.expandtabs(4), s[::-1], s[1:-1], s * 2, s.removeprefix('He'), s.removesuffix('ld'))
    print(s.encode(), [ord(c) for c in s[:3]], sorted(s)[:4], s < 'M', s == s.lower(), 'l' in s, max(s, default=None))
print('-'.join('abc'), ','.join(['x']), ''.join([]), 'a,b,,c'.split(','), ' a  b '.split(' '), 'abc'.split('b', 1), 'a-b-c'.rsplit('-', 1))
print('+12'.zfill(6), '-5'.zfill(4), 'x'.zfill(3), 'ab' 'cd', r'\n', 'a\
b', '''tri
ple''', "\x41\u00e9\N{BULLET}", '\101\t|')
print('{0}{0}'.format('x'), 'abc'[5:], 'abc'[-2:], 'abcdef'[::2], 'abcdef'[4:1:-1], 'abc' 'def'.upper(), str(None), str(b'x'), str([1, 'a']), repr('a\'b"c'), ascii('é'))
for f in (lambda: 'abc'.index('z'), lambda: 'abc'[9], lambda: 'a'.join([1]), lambda: 'a' * 'b', lambda: 'a'.split(''), lambda: 'a'.center(5, 'xx'), lambda: 'abc'.foo, lambda: int('z', 36) + int('9z', 10), lambda: ord('ab'), lambda: 'a' + 1, lambda: 'a' - 'b'):
    try:
        print(f())
    except Exception as error:
        print(type(error).__name__, error)
