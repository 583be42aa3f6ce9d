print(list(map(int, "1 2 3".split())), sum(map(len, ["a","bb"])))
