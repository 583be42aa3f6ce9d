try: raise Exception('a','b')
except Exception as e: print(e.args, e, repr(e))
try: int('12x')
except ValueError as e: print(e)
try: [].pop()
except IndexError as e: print(e)
try: {}.popitem()
except KeyError as e: print(e)
try: 'a'.foo
except AttributeError as e: print(e)
try: (1).foo()
except AttributeError as e: print(e)
try: None[0]
except TypeError as e: print(e)
try: 'abc'[1]='x'
except TypeError as e: print(e)
try: (1,2)[0]=1
except TypeError as e: print(e)
try: 'a'['b']
except TypeError as e: print(e)
try: [1]['b']
except TypeError as e: print(e)
try: for_ in 5
except Exception as e: print(type(e).__name__)
