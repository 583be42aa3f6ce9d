print(hash("a")==hash("a"), hash((1,2))==hash((1,2)), hash(2**61-1), hash(-1), hash(1.5)==hash(1.5), hash(True))
