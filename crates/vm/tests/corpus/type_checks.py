print(isinstance(3,(int,str)), isinstance("a",object), type(None).__name__, type(print).__name__, callable(len))
