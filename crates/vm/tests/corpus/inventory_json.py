import json
from json import JSONDecodeError, JSONEncoder


class Money:
    def __init__(self, cents):
        self.cents = cents

    def __repr__(self):
        return '%d.%02d' % divmod(self.cents, 100)

    def __eq__(self, other):
        return isinstance(other, Money) and self.cents == other.cents


class Encoder(JSONEncoder):
    def default(self, value):
        if isinstance(value, Money):
            return {'money': value.cents}
        if isinstance(value, (set, frozenset)):
            return sorted(value)
        return super().default(value)


def hook(pairs):
    return Money(pairs['money']) if set(pairs) == {'money'} else pairs


store = {'items': [{'name': 'pen', 'price': Money(150), 'tags': {'b', 'a'}}, {'name': 'ink "blue"', 'price': Money(1999), 'tags': set()}], 'open': True, 'rate': 0.5, 'none': None}
text = json.dumps(store, cls=Encoder)
print(text)
back = json.loads(text, object_hook=hook)
print(back['items'][0]['price'], back['items'][1]['price'] == Money(1999), back)
print(json.dumps(store, default=lambda value: sorted(value) if isinstance(value, set) else str(value), indent=4, sort_keys=True))
print(json.dumps([1, 2, [3, {}], [], {'a': []}], indent=2))
try:
    json.dumps({'x': object})
except TypeError as error:
    print('TypeError')
for bad in ('', '{', '[1,]', '{"a":}', 'nul', '"\\x"', '[1] 2', "{'a': 1}", '01', '+1', '"a\nb"'):
    try:
        print(bad, json.loads(bad))
    except JSONDecodeError as error:
        print(repr(bad), error.msg, error.pos, error.lineno, error.colno)
print(json.loads('[1e3, -0.5, 1E-2, 12345678901234567890, true, null, "\\u0041\\ud83d\\ude00\\/\\b"]'))
print(json.dumps('é☃😀\x00\x1f"\\/'), json.dumps('é☃', ensure_ascii=False))
print(json.dumps({1: 'a', 2.5: 'b', None: 'c', True: 'd'}), json.dumps((1, (2,))), json.dumps([float('inf'), float('nan')]))
print(json.loads('{"a": 1, "a": 2}'), json.loads(' \t\n[ ] '), json.loads(b'{"k": "v"}'), json.loads('3', parse_int=str), json.loads('[1.5]', parse_float=str))
