import cowboy
from contextlib import contextmanager

log = []


class Manager:
    def __init__(self, name, swallow):
        self.name = name
        self.swallow = swallow

    def __enter__(self):
        log.append('enter ' + self.name)
        return self

    def __exit__(self, kind, error, traceback):
        log.append(('exit', self.name, kind.__name__ if kind else None))
        return self.swallow


@contextmanager
def tagged(name):
    log.append('begin ' + name)
    try:
        yield name.upper()
    finally:
        log.append('end ' + name)


async def main():
    out = []
    for n in range(7):
        with Manager('a', False) as a, Manager('b', n % 2 == 0) as b, tagged('t') as t:
            out.append((a.name, b.name, t))
            try:
                out.append(await cowboy.submit_job(n))
            except RuntimeError as error:
                out.append(str(error))
            if n == 2:
                raise KeyError(await cowboy.submit_job('late'))
            if n == 5:
                break
    return repr((out, log))
