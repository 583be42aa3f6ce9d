data=[{'n':'x','v':3},{'n':'y','v':1}]
print(sorted(data,key=lambda r:r['v']), [r['n'] for r in data], any(r['v']>2 for r in data), {**data[0],'z':1})
