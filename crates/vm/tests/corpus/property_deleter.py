class P:
    @property
    def x(self): return self._x
    @x.setter
    def x(self,v): self._x=v*2
    @x.deleter
    def x(self): del self._x
p=P(); p.x=4; print(p.x); del p.x
try: p.x
except AttributeError as e: print(e)
