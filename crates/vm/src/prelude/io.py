# Text and bytes that are written and read like a file; there are no files.

class StringIO:
    def __init__(self, initial_value='', newline='\n'):
        # Parts that wait to be put together: what is only written is never copied.
        self._parts = [initial_value] if initial_value else []
        self._at = 0
        self.closed = False

    def _check(self):
        if self.closed:
            raise ValueError('I/O operation on closed file')

    def _text(self):
        self._check()
        if len(self._parts) > 1:
            self._parts = [''.join(self._parts)]
        return self._parts[0] if self._parts else ''

    def write(self, text):
        if not isinstance(text, str):
            raise TypeError("string argument expected, got '" + type(text).__name__ + "'")
        self._check()
        if self._at is None:
            self._parts.append(text)
            return len(text)
        whole = self._text()
        if self._at >= len(whole):
            self._parts.append('\0' * (self._at - len(whole)) + text)
            self._at = None
        else:
            self._parts = [whole[:self._at] + text + whole[self._at + len(text):]]
            self._at += len(text)
        return len(text)

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def getvalue(self):
        return self._text()

    def tell(self):
        self._check()
        return len(self._text()) if self._at is None else self._at

    def seek(self, offset, whence=0):
        self._check()
        self._at = len(self._text()) if whence == 2 else offset
        return self._at

    def read(self, size=-1):
        text = self._text()
        at = self.tell()
        end = len(text) if size is None or size < 0 else at + size
        self._at = max(min(end, len(text)), at)
        return text[at:end]

    def readline(self, size=-1):
        text = self._text()
        at = self.tell()
        end = text.find('\n', at) + 1 or len(text)
        if size is not None and size >= 0:
            end = min(end, at + size)
        self._at = max(end, at)
        return text[at:end]

    def readlines(self, hint=-1):
        return list(self)

    def __iter__(self):
        self._check()
        return self

    def __next__(self):
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    def truncate(self, size=None):
        size = self.tell() if size is None else size
        self._parts = [self._text()[:size]]
        self._at = self._at if self._at is not None else size
        return size

    def flush(self):
        pass

    def close(self):
        self.closed = True

    def readable(self):
        self._check()
        return True

    def writable(self):
        self._check()
        return True

    def seekable(self):
        self._check()
        return True

    def __enter__(self):
        self._check()
        return self

    def __exit__(self, kind, error, trace):
        self.close()


class BytesIO:
    def __init__(self, initial_bytes=b''):
        self._bytes = bytearray(initial_bytes)
        self._at = 0
        self.closed = False

    def _check(self):
        if self.closed:
            raise ValueError('I/O operation on closed file.')

    def write(self, data):
        self._check()
        if not isinstance(data, (bytes, bytearray)):
            raise TypeError("a bytes-like object is required, not '" + type(data).__name__ + "'")
        gap = self._at - len(self._bytes)
        if gap > 0:
            self._bytes.extend(bytes(gap))
        if self._at == len(self._bytes):
            self._bytes.extend(data)
        else:
            self._bytes[self._at:self._at + len(data)] = data
        self._at += len(data)
        return len(data)

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def getvalue(self):
        self._check()
        return bytes(self._bytes)

    def tell(self):
        self._check()
        return self._at

    def seek(self, offset, whence=0):
        self._check()
        base = 0 if whence == 0 else self._at if whence == 1 else len(self._bytes)
        if whence == 0 and offset < 0:
            raise ValueError('negative seek value ' + str(offset))
        self._at = max(base + offset, 0)
        return self._at

    def _take(self, end):
        at = self._at
        self._at = max(min(end, len(self._bytes)), at)
        return bytes(self._bytes[at:end])

    def read(self, size=-1):
        self._check()
        return self._take(len(self._bytes) if size is None or size < 0 else self._at + size)

    def readline(self, size=-1):
        self._check()
        end = self._bytes.find(b'\n', self._at) + 1 or len(self._bytes)
        if size is not None and size >= 0:
            end = min(end, self._at + size)
        return self._take(end)

    def readlines(self, hint=-1):
        return list(self)

    def __iter__(self):
        return self

    def __next__(self):
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    def truncate(self, size=None):
        self._check()
        size = self._at if size is None else size
        del self._bytes[size:]
        return size

    def flush(self):
        pass

    def close(self):
        self.closed = True

    def readable(self):
        return True

    def writable(self):
        return True

    def seekable(self):
        return True

    def __enter__(self):
        self._check()
        return self

    def __exit__(self, kind, error, trace):
        self.close()
