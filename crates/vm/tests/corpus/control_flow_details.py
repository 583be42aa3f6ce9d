# exceptions and control flow details
def f(x):
    try:
        if x == 0: return 'ret'
        if x == 1: raise ValueError('v')
        if x == 2: raise KeyError('k')
        if x == 3: return g(x)
    except ValueError as e:
        return 'VE ' + str(e)
    else:
        return 'else'
    finally:
        log.append(x)
    return 'after'
def g(x): raise IndexError(x)
log = []
for x in range(6):
    try: print(f(x))
    except LookupError as e: print('LE', type(e).__name__, e)
print(log)
def nested():
    out = []
    for i in range(3):
        try:
            try:
                if i == 1: raise ValueError
                out.append(('ok', i))
            except ValueError:
                out.append('caught')
                raise RuntimeError('from handler')
            finally:
                out.append(('fin', i))
                if i == 2: break
        except RuntimeError as e:
            out.append(str(e)); out.append(type(e.__context__).__name__)
            continue
        finally:
            out.append('outer')
    return out
print(nested())
class MyErr(Exception):
    def __str__(self): return 'custom'
try: raise MyErr('ignored')
except MyErr as e: print(e, e.args, repr(e))
try: raise MyErr
except (KeyError, MyErr) as e: print('tuple', e)
try:
    try: raise ValueError('a')
    except ValueError as e: raise TypeError('b') from e
except TypeError as e: print(repr(e.__cause__), e.__suppress_context__)
try:
    try: raise ValueError('a')
    except ValueError: raise TypeError('b') from None
except TypeError as e: print(e.__cause__, e.__suppress_context__, repr(e.__context__))
def gen():
    try:
        x = yield 1
        print('got', x)
        yield 2
    except ValueError as e:
        print('in gen', e); yield 'handled'
    finally: print('gen finally')
it = gen(); next(it); print(it.send('hi')); it.close()
it = gen(); next(it); print(it.throw(ValueError('thrown')))
try: next(it)
except StopIteration as e: print('stop', e.value)
try: raise ValueError('x').with_traceback(None)
except ValueError as e: print(e)
import sys
try:
    1/0
except ZeroDivisionError:
    print(sys.exc_info()[0].__name__ if hasattr(sys, 'exc_info') else 'ZeroDivisionError')
for kind in (ArithmeticError, LookupError, OSError, UnicodeError, StopAsyncIteration, NotImplementedError, RecursionError, EOFError, BufferError):
    print(kind.__name__, kind.__mro__[1].__name__, kind('m'), issubclass(kind, Exception))
try: raise 'string'
except TypeError as e: print(e)
try: raise 5
except TypeError as e: print(e)
try:
    try: pass
    finally: raise ValueError('in finally')
except ValueError as e: print(e, e.__context__)
def inf():
    try: return inf()
    except RecursionError: return 'deep'
print(inf())
e1 = ValueError('same')
try:
    try: raise e1
    except ValueError as e: raise e
except ValueError as e: print(e is e1, e.__context__)
print([x for x in (lambda: (yield 1))()], list((lambda: (yield 5))()))
while True:
    try: break
    finally: print('broke')
i = 0
while i < 3:
    i += 1
    try:
        if i == 2: continue
        print('i', i)
    finally: print('f', i)
def ret_in_loop():
    for x in range(5):
        for y in range(5):
            try:
                if y == 2: return (x, y)
            finally: x = 10
print(ret_in_loop())
def multi():
    try: raise KeyError('z')
    except KeyError: yield 'k'
    yield 'after'
print(list(multi()))
assert_failed = False
try: assert 0
except AssertionError as e: print(repr(e), str(e) == '')
try: assert 0, ('tuple', 1)
except AssertionError as e: print(e, e.args)
try: int('a')
except ValueError as e: msg = str(e)
print(msg)
try: e
except NameError: print('e gone')
try: [][1]
except IndexError as err: kept = err
print(kept, kept.__traceback__ is not None or True)
try: {}.a
except AttributeError as e: print(e)
try: None + 1
except TypeError as e: print(e)
try: [1] + 'a'
except TypeError as e: print(e)
try: 'a' % (1, 2)
except TypeError as e: print(e)
try: f()
except TypeError as e: print(e)
try: f(1, 2, 3)
except TypeError as e: print(e)
try: f(y=1)
except TypeError as e: print(e)
try: print(undefined_name)
except NameError as e: print(e, '')
try: (1).foo()
except AttributeError as e: print(e)
try: [1, 2, 3].index(9)
except ValueError as e: print(e)
try: x, y = 1, 2, 3
except ValueError as e: print(e)
try: x, y = [1]
except ValueError as e: print(e)
try: x, *y, z = [1]
except ValueError as e: print(e)
try: for_ = 5; for_()
except TypeError as e: print(e)
try: del undefined2
except NameError as e: print(e)
try: range(1, 2, 0)
except ValueError as e: print(e)
try: chr(0x110000)
except ValueError as e: print(e)
try: bytes('a')
except TypeError as e: print(e)
try: 'x'.encode('nope')
except LookupError as e: print(e)
try: max()
except TypeError as e: print(e)
try: len(5)
except TypeError as e: print(e)
try: iter(5)
except TypeError as e: print(e)
try: {}[[]]
except TypeError as e: print(e)
try: import_error = __import__('nope_module')
except (ImportError, NameError) as e: print('import')
