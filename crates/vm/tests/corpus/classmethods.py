class A:
    count=0
    @classmethod
    def new(cls,*a,**k): cls.count+=1; return cls(*a,**k)
    def __init__(self,x=0): self.x=x
class B(A): pass
B.new(5); A.new(); print(A.count,B.count,B.new(x=3).x, B.count)
