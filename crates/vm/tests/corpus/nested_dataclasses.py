from dataclasses import dataclass, field, asdict, replace
@dataclass
class In: v:int=1
@dataclass
class Out:
    a:In=field(default_factory=In)
    b:list=field(default_factory=list, repr=False)
    def __post_init__(self): self.c=self.a.v+1
o=Out(); print(o,o.c,asdict(o),replace(o,a=In(5)), o==Out())
