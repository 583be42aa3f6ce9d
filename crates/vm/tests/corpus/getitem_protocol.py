class A:
    def __init__(self): self.items=[]
    def __getitem__(self,i):
        if isinstance(i, slice): return ("slice", i.start, i.stop, i.step)
        if i>3: raise IndexError
        return i*10
a=A(); print(list(a), a[1:5], a[::2], 20 in a)
