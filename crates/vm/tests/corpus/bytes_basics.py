print(b'abc'+b'd', b'a'*3, bytes('é','utf-8'), 'é'.encode(), b'\xc3\xa9'.decode(), bytearray(b'abc')[0], list(bytes(range(3))), b'abc'.upper(), b'a b'.split())
