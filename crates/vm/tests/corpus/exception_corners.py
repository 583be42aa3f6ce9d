class MyE(Exception):
    def __init__(self, msg, code=5): super().__init__(msg); self.code = code
class Sub(MyE): pass
def t(f):
    try: f()
    except (KeyError, IndexError) as e: print('lookup', type(e).__name__, e, e.args, repr(e))
    except MyE as e: print('mine', e, e.code, type(e).__name__, repr(e), isinstance(e, Exception))
    except Exception as e: print('exc', type(e).__name__, e, repr(e), e.args)
    else: print('else')
    finally: print('finally')
def r(e): raise e
for f in (lambda: {}['k'], lambda: [][1], lambda: r(MyE('m')), lambda: r(Sub('s', 7)), lambda: r(ValueError), lambda: r(ValueError()), lambda: r(ValueError('a', 1)), lambda: None, lambda: r(5), lambda: r(int), lambda: r(KeyError('q', 1)), lambda: r(KeyError()), lambda: r(StopIteration(3)), lambda: r(NotImplementedError), lambda: r(AssertionError('x')), lambda: r(LookupError('l')), lambda: r(ArithmeticError()), lambda: r(TimeoutError('t')), lambda: r(ConnectionError()), lambda: r(EOFError()), lambda: r(BufferError('b')), lambda: r(PermissionError('p')), lambda: r(ImportError('i', name='n')), lambda: r(NameError('n')), lambda: r(AttributeError('a')), lambda: r(FloatingPointError()), lambda: r(OverflowError(1)), lambda: r(MemoryError('m')), lambda: r(RecursionError('r')), lambda: r(ModuleNotFoundError('q')), lambda: r(IOError('io')), lambda: r(EnvironmentError('env')), lambda: r(UserWarning('w')), lambda: r(DeprecationWarning('d')), lambda: r(Warning())):
    t(f)
try:
    try: 1 / 0
    except ZeroDivisionError as e: raise ValueError('chain') from e
except ValueError as e: print(repr(e.__cause__), repr(e.__context__), e.__suppress_context__)
try:
    try: 1 / 0
    except ZeroDivisionError: raise ValueError('ctx')
except ValueError as e: print(repr(e.__cause__), repr(e.__context__), e.__suppress_context__)
try:
    try: 1 / 0
    except ZeroDivisionError: raise ValueError('none') from None
except ValueError as e: print(repr(e.__cause__), repr(e.__context__), e.__suppress_context__)
try:
    try: raise KeyError('a')
    finally: raise ValueError('b')
except ValueError as e: print(repr(e.__context__))
try: raise ValueError('x') from 5
except TypeError as e: print(e)
try:
    try: raise ValueError('re')
    except ValueError: raise
except ValueError as e: print('reraised', e)
try: raise
except RuntimeError as e: print(e)
try: e
except NameError as ex: print(ex)
def nested():
    try:
        try: raise KeyError('in')
        except ValueError: print('no')
        finally: print('f1')
    except KeyError: print('outer'); return 'ret'
    finally: print('f2')
print(nested())
e = ValueError('n'); e.add_note('note1'); print(e.__notes__); print(e.with_traceback(None) is e)
e2 = ValueError(1, 2); print(str(e2), e2.args, ValueError() == ValueError(), str(ValueError(None)), str(KeyError('k')), str(KeyError(1, 2)), str(ValueError(('t',))))
class E3(Exception):
    def __str__(self): return 'custom'
print(str(E3()), repr(E3(1)), f'{E3()}')
class E4(Exception):
    def __init__(self, a, b): self.a = a
print(repr(E4(1, 2)), E4(1, 2).args)
try: assert False
except AssertionError as e: print(repr(e), e.args)
try: assert 1 > 2, ('tuple', 'msg')
except AssertionError as e: print(repr(e))
print(issubclass(KeyError, LookupError), issubclass(ZeroDivisionError, ArithmeticError), issubclass(FileNotFoundError, OSError), IOError is OSError, [c.__name__ for c in UnicodeDecodeError.__mro__])
try:
    try: raise KeyError
    except (KeyError, 5): print('ok')
except TypeError as e: print(e)
try:
    try: raise KeyError
    except 5: print('ok')
except TypeError as e: print(e)
def gen():
    try: yield 1
    except ValueError: print('gen caught'); yield 2
g = gen(); next(g); print(g.throw(ValueError))
o = FileNotFoundError(2, 'msg', 'file'); print(o.errno, o.strerror, o.filename, o)
s = StopIteration('v'); print(s.value); x = SystemExit(3); print(x.code)
try: b'\xff'.decode('utf-8')
except UnicodeDecodeError as e: print(e)
try: 'a\u20ac'.encode('latin-1')
except UnicodeEncodeError as e: print(e)
for i in range(3):
    try:
        if i == 1: raise ValueError
        print('body', i)
    except ValueError: print('cont'); continue
    else: print('else', i)
    finally: print('fin', i)
with_ = []
class CM:
    def __init__(s, n, sup=False): s.n, s.sup = n, sup
    def __enter__(s): with_.append('in' + s.n); return s.n
    def __exit__(s, t, v, tb): with_.append('out' + s.n + (t.__name__ if t else '')); return s.sup
with CM('a') as a, CM('b', True) as b: raise ValueError
print(with_, a, b)
with (CM('c') as c, CM('d')): pass
try:
    with CM('x'): raise KeyError('thru')
except KeyError as e: print('thru', e)
try:
    with 5: pass
except TypeError as e: print(e)
class NoExit:
    def __enter__(s): pass
try:
    with NoExit(): pass
except TypeError as e: print(e)
from contextlib import contextmanager, suppress, ExitStack, closing, nullcontext
@contextmanager
def cm(n):
    print('enter', n)
    try: yield n
    except ValueError as e: print('cm caught', e)
    finally: print('exit', n)
with cm(1) as q: print(q); raise ValueError('inside')
with suppress(KeyError, ValueError): {}['a']
with ExitStack() as st: st.callback(print, 'cb'); st.enter_context(cm(2)); print('body')
with nullcontext(5) as five: print(five)
@cm('dec')
def decorated(): print('in decorated')
decorated()
