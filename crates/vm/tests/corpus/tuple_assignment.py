a=1; b=2
a,b=b,a+b
print(a,b); x=y=5; x+=1; print(x,y); z=[0]*2; z[0],z[1]=1,2; print(z)
