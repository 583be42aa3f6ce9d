class T:
    def __enter__(self): print('in'); return self
    def __exit__(self,t,v,tb): print('out', t and t.__name__); return t is KeyError
with T(): raise KeyError
with T() as t: print(t.__class__.__name__)
