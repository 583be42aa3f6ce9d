from collections import namedtuple as _namedtuple

maxsize = 9223372036854775807
version = '3.11'
version_info = _namedtuple('version_info', 'major minor micro releaselevel serial')(3, 11, 0, 'final', 0)
argv = ['']
byteorder = 'little'
platform = 'linux'
float_info = _namedtuple('float_info', 'max max_exp max_10_exp min min_exp min_10_exp dig mant_dig epsilon radix rounds')(
    1.7976931348623157e308, 1024, 308, 2.2250738585072014e-308, -1021, -307, 15, 53, 2.220446049250313e-16, 2, 1)


class _Out:
    def write(self, text):
        _write(text)
        return len(text)

    def flush(self):
        pass


class _Err:
    def write(self, text):
        _write_error(text)
        return len(text)

    def flush(self):
        pass


stdout = _Out()
stderr = _Err()


def exc_info():
    error = _handled()
    return (None, None, None) if error is None else (type(error), error, None)


def exit(code=None):
    raise SystemExit(code)


def getrecursionlimit():
    return 1000


def setrecursionlimit(limit):
    pass


def intern(text):
    return text
