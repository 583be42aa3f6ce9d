import _hashes


_SIZES = {'md5': (16, 64), 'sha1': (20, 64), 'sha224': (28, 64), 'sha384': (48, 128), 'sha512': (64, 128),
          'sha3_224': (28, 144), 'sha3_256': (32, 136), 'sha3_384': (48, 104), 'sha3_512': (64, 72)}


class _Hash:
    def __init__(self, name, function, data):
        self.name = name
        self.digest_size, self.block_size = _SIZES.get(name, (32, 64))
        self._function = function
        self._data = bytearray(data)

    def update(self, data):
        if isinstance(data, str):
            raise TypeError('Strings must be encoded before hashing')
        self._data += data

    def digest(self):
        return self._function(self._data)

    def hexdigest(self):
        return self.digest().hex()

    def copy(self):
        return _Hash(self.name, self._function, self._data)


def _make(name, function):
    def make(data=b'', **options):
        if isinstance(data, str):
            raise TypeError('Strings must be encoded before hashing')
        return _Hash(name, function, data)
    return make


sha256 = _make('sha256', _hashes.sha256)
md5 = _make('md5', _hashes.md5)
sha1 = _make('sha1', _hashes.sha1)
sha224 = _make('sha224', _hashes.sha224)
sha384 = _make('sha384', _hashes.sha384)
sha512 = _make('sha512', _hashes.sha512)
sha3_224 = _make('sha3_224', _hashes.sha3_224)
sha3_384 = _make('sha3_384', _hashes.sha3_384)
sha3_512 = _make('sha3_512', _hashes.sha3_512)
sha3_256 = _make('sha3_256', _hashes.sha3_256)
keccak_256 = keccak256 = _make('keccak256', _hashes.keccak256)


def new(name, data=b''):
    for known in (('sha256', sha256), ('sha3_256', sha3_256), ('keccak256', keccak256), ('md5', md5), ('sha1', sha1),
                  ('sha512', sha512), ('sha224', sha224), ('sha384', sha384), ('sha3_512', sha3_512),
                  ('sha3_224', sha3_224), ('sha3_384', sha3_384)):
        if known[0] == name.lower().replace('-', ''):
            return known[1](data)
    raise ValueError('unsupported hash type ' + name)
