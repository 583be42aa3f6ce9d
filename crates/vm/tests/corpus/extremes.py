print(max([(1,'b'),(1,'a')]), min('b','a'), max({'a':3,'b':1}, key={'a':3,'b':1}.get), sum([1.5,2]), abs(-3.5), round(3.14159,3), divmod(17,5), pow(2,10))
