def deco(f):
    def w(*a,**k):
        print('call',f.__name__); return f(*a,**k)
    return w
class X:
    @deco
    def m(self,a): return a
    @staticmethod
    @deco
    def s(): return 's'
print(X().m(3), X.s())
