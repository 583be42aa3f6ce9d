print(str([1,'a',None,True,1.5]), repr({'k':(1,)}), str(()), str({}), str(set()), [[]])
