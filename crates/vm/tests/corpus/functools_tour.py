from functools import reduce, cmp_to_key, total_ordering, singledispatch
print(reduce(lambda a,b:a+b,[1,2,3],10), sorted([3,1,2],key=cmp_to_key(lambda a,b:b-a)))
@total_ordering
class V:
    def __init__(s,n): s.n=n
    def __eq__(s,o): return s.n==o.n
    def __lt__(s,o): return s.n<o.n
print(V(1)<=V(2), V(3)>V(2), V(1)>=V(1))
@singledispatch
def show(x): return 'obj'
@show.register(int)
def _(x): return 'int'
print(show(1), show('a'))
