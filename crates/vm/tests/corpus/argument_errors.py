def f(a,b): pass
for args in ((1,),(1,2,3),()):
    try: f(*args)
    except TypeError as e: print(e)
