def f(*, a, b=2): return a,b
print(f(a=1)); print(f(**{'a':5,'b':6}))
try: f(1)
except TypeError as e: print(e)
try: f()
except TypeError as e: print(e)
try: f(a=1,c=2)
except TypeError as e: print(e)
