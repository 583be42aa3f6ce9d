# Bytes that are not what an encoding says, and texts that an encoding lacks.

def shown(action):
    try:
        print(ascii(action()))
    except Exception as error:
        print(type(error).__name__, error)


samples = [
    b'', b'A', b'\x00\xd8A\x00', b'A\x00\x00\xdcB\x00', b'A\x00\x00\xd8', b'A\x00\x00\xd8\x00', b'A\x00\x00', b'=\xd8\x00\xde!\x00',
    b'\xff\xfeA\x00\x00\xd8', b'\xfe\xff\x00A\xd8\x00', b'\xff\xfe', b'\xfe\xff\x00A\x00', b'A\x00\xff\xfe', b'\x00\xd8\x00\xd8A\x00',
    b'A\x00\x00\x00', b'\x00\xd8\x00\x00A\x00\x00\x00', b'\x00\x00\x11\x00A\x00\x00\x00', b'A\x00\x00\x00B', b'\xff\xfe\x00\x00A\x00\x00\x00', b'\x00\x00\xfe\xff\x00\x00\x00A',
    b'\xf0\x9f\x98', b'a\xffb\xc3', b'\xed\xa0\x80', b'\xc3(',
]
for encoding in ('utf-16', 'utf-16-le', 'utf-16-be', 'utf-32', 'utf-32-le', 'utf-32-be', 'utf-8', 'ascii', 'latin-1'):
    for sample in samples:
        for errors in ('strict', 'replace', 'ignore', 'backslashreplace'):
            shown(lambda: sample.decode(encoding, errors))
for text in ('', 'abc', 'aé', 'é€😀x'):
    for encoding in ('ascii', 'latin-1', 'utf-8', 'utf-16', 'utf-16-be', 'utf-32-le'):
        for errors in ('strict', 'replace', 'ignore', 'backslashreplace', 'xmlcharrefreplace', 'sorry'):
            shown(lambda: text.encode(encoding, errors))
for sample in (b'abc', b'a\xffb', b'\x00\xd8'):
    for encoding in ('ascii', 'utf-8', 'latin-1'):
        for errors in ('sorry', 'xmlcharrefreplace'):
            shown(lambda: sample.decode(encoding, errors))
