class C:
    def __setattr__(self,k,v): object.__setattr__(self,k,v+1)
    def __delattr__(self,k): print('del',k); object.__delattr__(self,k)
c=C(); c.a=1; print(c.a, c.__dict__); del c.a; print(c.__dict__)
