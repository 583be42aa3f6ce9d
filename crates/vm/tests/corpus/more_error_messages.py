try:
    for i in 5: pass
except TypeError as e: print(e)
try: a, b = 1
except TypeError as e: print(e)
try: a, b = [1]
except ValueError as e: print(e)
try: len(1)
except TypeError as e: print(e)
try: 'a' + 1
except TypeError as e: print(e)
try: 1 + 'a'
except TypeError as e: print(e)
try: [] < {}
except TypeError as e: print(e)
try: sorted([1,'a'])
except TypeError as e: print(e)
try: int([])
except TypeError as e: print(e)
try: {[]: 1}
except TypeError as e: print(e)
try: sum(['a'])
except TypeError as e: print(e)
try: ','.join([1])
except TypeError as e: print(e)
