print(dict(zip('abc',range(3))), {v:k for k,v in {'a':1}.items()}, set('hello')=={'h','e','l','o'}, frozenset([1])|{2})
