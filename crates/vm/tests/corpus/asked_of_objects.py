class A: pass
class B(A): pass
class C(A): pass
print([c.__name__ for c in A.__subclasses__()], B.__base__)
def curry(f):
    n = f.__code__.co_argcount
    def w(*a): return f(*a) if len(a) >= n else lambda *b: w(*a, *b)
    return w
print(curry(lambda a, b, c: a + b + c)(1)(2)(3))
def f(self, x): return (self, x)
print(f.__get__(5)(6))
class Log(list):
    def __iadd__(self, o): print('adding', o); return super().__iadd__(o)
class D(dict):
    def __ior__(self, o): print('merging'); return super().__ior__(o)
l = Log([1]); l += [2]; print(l)
d = D(a=1); d |= {'b': 2}; print(d)
a = {'a': 1, 'b': 2}.keys()
print(a <= {'a', 'b', 'c'}, a == {'a', 'b'}, a >= {'a'}, a < {'a', 'b'}, {'a', 'b'} == a, {'a': 1}.items() <= {('a', 1)})
print(a.isdisjoint({'z'}))
class M(type):
    def __lt__(cls, o): return cls.__name__ < o.__name__
class A(metaclass=M): pass
class B(A): pass
print(A < B, B < A, [c.__name__ for c in sorted([B, A])])
