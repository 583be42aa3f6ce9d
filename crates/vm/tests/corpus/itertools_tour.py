import itertools as it
print(list(it.islice(it.count(10,5),3)), list(it.repeat('a',2)), list(it.starmap(pow,[(2,3),(3,2)])), list(it.dropwhile(lambda x:x<3,range(6))), list(it.compress('abc',[1,0,1])), list(it.combinations_with_replacement('ab',2)), list(it.chain.from_iterable([[1],[2]])), list(it.pairwise([1,2,3])))
