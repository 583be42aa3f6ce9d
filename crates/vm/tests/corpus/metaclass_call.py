class Meta(type):
    def __call__(cls,*a):
        if not hasattr(cls,'_i'): cls._i=super().__call__(*a)
        return cls._i
class S(metaclass=Meta):
    def __init__(self): self.v=1
print(S() is S(), S().v)
