print([i for i in range(20) if i%2 if i%3], [(x,y) for x in 'ab' for y in 'cd'], {len(w) for w in ['a','bb','cc']})
