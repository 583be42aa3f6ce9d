t=1,2
print(t, (t), type(t)); (a,), b = (1,), 2; print(a,b); [x,*y]='abc'; print(x,y)
for i,(a,b) in enumerate([(1,2),(3,4)]): print(i,a,b)
