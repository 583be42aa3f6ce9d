a=[3,1,2]; a.sort(key=lambda x:-x); print(a); print(sorted({"b":1,"a":2}), sorted({3,1,2}))
