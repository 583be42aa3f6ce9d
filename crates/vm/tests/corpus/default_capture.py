def outer():
    l=[]
    for i in range(3):
        def f(i=i): return i*i
        l.append(f)
    return [f() for f in l]
print(outer())
