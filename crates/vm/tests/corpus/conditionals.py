x = 10 if False else 20; print(x, "yes" if x > 15 else "no", not x, x and 5, x or 5, None or [] or 'z')
print(1 in {1:2}, 'a' not in 'xyz', 3 is 3, None is None, [1]==[1], [1] is [1])
