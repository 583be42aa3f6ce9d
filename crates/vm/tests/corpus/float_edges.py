print(bool(float('nan')), float('inf')>1, float('nan')==float('nan'), -0.0==0.0, 0.0 is 0.0, 1e400, int(1e20), 7//2.0, 3%2.5)
