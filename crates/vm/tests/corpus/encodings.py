# Text as bytes and back.
samples = ['', 'plain', 'caf\u00e9', '\u20ac5', 'mixed \u00e9\u20ac', '\U0001f600', 'a\u0301', '\u65e5\u672c']
for text in samples:
    for name in ('utf-8', 'ascii', 'latin-1', 'utf-16', 'utf-16-le', 'utf-16-be', 'utf-32', 'utf-32-le', 'UTF8', 'us-ascii', 'iso-8859-1'):
        for errors in ('strict', 'ignore', 'replace', 'backslashreplace', 'xmlcharrefreplace'):
            try:
                made = text.encode(name, errors)
                back = made.decode(name, 'replace')
                print(ascii(text), name, errors, made, ascii(back), bytes(text, name, errors) == made)
            except UnicodeEncodeError as error:
                print(ascii(text), name, errors, error)
broken = [b'\xff', b'a\xc3', b'\xe2\x82', b'\xe2\x82a', b'\xed\xa0\x80', b'ok\x80ok', b'\xf0\x9f\x98', b'\xc0\x80', b'\xf8\x88', b'\xe9t\xe9']
for data in broken:
    for name in ('utf-8', 'ascii', 'latin-1'):
        for errors in ('strict', 'ignore', 'replace', 'backslashreplace'):
            try:
                print(data, name, errors, ascii(data.decode(name, errors)), ascii(str(data, name, errors)))
            except UnicodeDecodeError as error:
                print(data, name, errors, error)
for attempt in (lambda: 'a'.encode('nope'), lambda: b'a'.decode('nope'), lambda: str('a', 'utf-8'), lambda: bytes('a'), lambda: bytes(5, 'utf-8'),
                lambda: bytearray('\u00e9', 'latin-1'), lambda: bytes.fromhex('6 1'), lambda: bytes.fromhex('zz'), lambda: bytes.fromhex('abc'),
                lambda: bytes.fromhex(' 61 62'), lambda: b'abcdef'.hex('-', 2), lambda: b'abcdef'.hex(':', -4), lambda: b'abc'.hex('_')):
    try:
        print(attempt())
    except (LookupError, TypeError, ValueError) as error:
        print(type(error).__name__, error)
for text in ('stra\u00dfe', '\ufb01n', '\u01c6', '\u03a3\u0391\u03a3', 'they\'re', '\u65e5a', 'x1y', '\ufb00'):
    print(ascii(text.title()), ascii(text.capitalize()), ascii(text.casefold()), ascii(text.upper()), ascii(text.lower()))
print(int('\u0661\u0662'), int('\uff19'), float('\u0661\u0662.5'), int('-\u0967_\u0968'), '\u0661'.isdigit())
