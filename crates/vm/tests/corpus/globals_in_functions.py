x = 5
def show():
    print(x)
    global y
    y = 10
show(); print(y)
