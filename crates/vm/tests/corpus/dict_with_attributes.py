class M(dict):
    def __getattr__(self,k):
        try: return self[k]
        except KeyError: raise AttributeError(k)
m=M(a=1); print(m.a, m['a'], len(m), list(m.items()))
try: m.b
except AttributeError as e: print('no', e)
