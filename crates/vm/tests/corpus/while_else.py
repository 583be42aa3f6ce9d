n=0
while n<5:
    n+=1
    if n==2: continue
    if n==4: break
    print(n)
else: print('never')
print('end')
