from collections import namedtuple as _namedtuple

maxsize = 9223372036854775807
version = '3.11'
version_info = _namedtuple('version_info', 'major minor micro releaselevel serial')(3, 11, 0, 'final', 0)
argv = ['']
byteorder = 'little'


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


def exit(code=None):
    raise SystemExit(code)


def getrecursionlimit():
    return 1000


def setrecursionlimit(limit):
    pass


def intern(text):
    return text
