x=[1,2,3]
for i in x:
    if i==2: x.append(9)
    print(i, end=' ')
print()
d={'a':1}
try:
    for k in d: d[k+'x']=1
except RuntimeError as e: print(e)
