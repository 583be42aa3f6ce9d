import sys, io
from contextlib import redirect_stdout, redirect_stderr, contextmanager
buf = io.StringIO()
with redirect_stdout(buf): print('captured', 1, sep='-'); sys.stdout.write('raw\n'); print(end='x')
print(repr(buf.getvalue()))
old, sys.stdout = sys.stdout, io.StringIO()
print('hidden')
s, sys.stdout = sys.stdout.getvalue(), old
print(repr(s))
class Tee:
    def __init__(self, out): self.out = out; self.parts = []
    def write(self, text): self.parts.append(text); return self.out.write(text)
    def flush(self): self.parts.append('flush')
tee = Tee(sys.stdout)
with redirect_stdout(tee): print('a', 2, [3], sep='|', flush=True); print()
print(tee.parts, sys.stdout is sys.__stdout__)
try:
    with redirect_stdout(io.StringIO()) as f: print('x'); raise ValueError(f.getvalue())
except ValueError as e: print(repr(e))
err = io.StringIO()
with redirect_stderr(err): print('to err', file=sys.stderr)
print(repr(err.getvalue()))
class R:
    def __repr__(self): print('inside repr'); return 'R'
with redirect_stdout(io.StringIO()) as f: print(R())
print(repr(f.getvalue()))
print([line for line in sys.stdin] if sys.stdin.isatty() else [], sys.getrecursionlimit() > 100, sys.getsizeof([]) > 0)
