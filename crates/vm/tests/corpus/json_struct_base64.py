import json, struct, base64, hashlib, binascii
print(json.dumps({'a': [1, 2.5, None, True, 'é"\n'], 'b': {}}), json.dumps([1, 2], indent=2), json.dumps({'b': 1, 'a': 2}, sort_keys=True), json.dumps({'x': [1, {'y': 2}], 'e': [], 'd': {}}, indent=4), json.dumps('é', ensure_ascii=False), json.dumps({1: 2, None: 3, True: 4, 1.5: 5}), json.dumps([1, 2], separators=(',', ':')), json.dumps(float('inf')), json.dumps((1, 2)), json.dumps('\u2028\x7f\x00/😀'), json.dumps(10**20), json.dumps(1e100), json.dumps({'a': 1}, indent='\t'))
print(json.loads('{"a": [1, 2.0, null, true, false, "x\\u00e9\\n"]}'), json.loads('1e3'), json.loads('"\\ud83d\\ude00"'), json.loads(' [ ] '), json.loads('-0'), json.loads('-0.0'), json.loads('NaN'), json.loads('123456789012345678901234567890'), json.loads(b'{"a":1}'), json.loads('{"a":1,"a":2}'))
for t in ['', '{', '[1,]', '{"a"}', "{'a':1}", '[1 2]', 'nul', '"abc', '01', '1.', '{"a":1,}', '[1]x', '"\\x"', '"\t"', 'tru', '-', '{1:2}']:
    try: print(json.loads(t))
    except json.JSONDecodeError as e: print(repr(t), e, e.pos, e.lineno, e.colno, e.msg)
class P:
    def __init__(s): s.x = 1
try: json.dumps(P())
except TypeError as e: print(e)
try: json.dumps({(1, 2): 3})
except TypeError as e: print(e)
print(json.dumps(P(), default=lambda o: o.__dict__), json.dumps({(1,): 2, 'a': 1}, skipkeys=True), json.loads('{"a": 1}', object_hook=lambda d: list(d.items())), json.loads('[1.5]', parse_float=str), json.loads('{"b":1,"a":2}', object_pairs_hook=list))
class Enc(json.JSONEncoder):
    def default(self, o):
        if isinstance(o, set): return sorted(o)
        return super().default(o)
print(json.dumps({'s': {3, 1}}, cls=Enc))
l = []; l.append(l)
try: json.dumps(l)
except ValueError as e: print(e)
print(struct.pack('>IHb', 1, 2, -3), struct.unpack('>IHb', b'\x00\x00\x00\x01\x00\x02\xfd'), struct.calcsize('<QI'), struct.pack('<d', 1.5), struct.unpack('<f', struct.pack('<f', 0.1)), struct.pack('4s', b'ab'), struct.pack('!3B', 1, 2, 3), struct.unpack_from('>H', b'\x00\x01\x02', 1), struct.pack('?', True), struct.pack('<q', -1), list(struct.iter_unpack('>H', b'\x00\x01\x00\x02')), struct.pack('>2x1B', 7), struct.pack('<5sH', b'hello', 9), struct.pack('<e', 1.5) if False else '')
for f in (lambda: struct.pack('>B', 256), lambda: struct.unpack('>I', b'ab'), lambda: struct.pack('>B', 'a'), lambda: struct.pack('Z', 1), lambda: struct.pack('>B')):
    try: print(f())
    except struct.error as e: print('struct.error', e)
print(base64.b64encode(b'hello'), base64.b64decode('aGVsbG8='), base64.urlsafe_b64encode(b'\xff\xfe\xfd'), base64.b32encode(b'hi'), base64.b16encode(b'\x01\xab'), base64.b64encode(b''), base64.b32decode('NBUQ===='), base64.urlsafe_b64decode(b'__79'), base64.b16decode('01AB'))
try: base64.b64decode('abc')
except Exception as e: print(type(e).__name__, e)
print(hashlib.sha256(b'abc').hexdigest(), hashlib.sha256(b'').digest()[:4], hashlib.new('sha256', b'x').hexdigest()[:8], hashlib.sha256(b'abc').digest_size, hashlib.sha256().name)
h = hashlib.sha256(); h.update(b'a'); h.update(b'bc'); print(h.hexdigest() == hashlib.sha256(b'abc').hexdigest(), h.copy().hexdigest()[:6])
print(binascii.hexlify(b'ab'), binascii.unhexlify('6162'), binascii.crc32(b'abc'))
