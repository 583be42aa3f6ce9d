try:
    try: raise ValueError('a')
    finally: print('f')
except ValueError as e: print('c', e)
else: print('no')
