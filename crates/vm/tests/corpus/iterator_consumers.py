class It:
    def __init__(s): s.n=0
    def __iter__(s): return s
    def __next__(s):
        s.n+=1
        if s.n>3: raise StopIteration
        return s.n
print(list(zip(It(),'abc')), dict(enumerate(It())), sum(x for x in It()), list(reversed(list(It()))), [*It()], max(It()), tuple(It()), set(It()))
