def f(n):
    try:
        if n == 0:
            raise ValueError("zero")
        if n == 1:
            return "returned"
        if n == 2:
            [][1]
        if n == 3:
            {}["missing"]
        if n == 4:
            None.attr
        if n == 5:
            int("x")
        if n == 6:
            "a" + 1
        if n == 7:
            undefined_name
        if n == 8:
            1 / 0
        if n == 9:
            assert n == 0, "message"
        if n == 10:
            a, b = [1, 2, 3]
        if n == 11:
            f()
    except (ValueError, IndexError) as error:
        return "first " + type(error).__name__ + " " + str(error)
    except LookupError as error:
        return "lookup " + repr(error)
    except Exception as error:
        return "other " + type(error).__name__ + ": " + str(error)
    else:
        return "else"
    finally:
        print("finally", n, end=" ")

for i in range(13):
    print(f(i))

class MyError(Exception):
    pass

def chain():
    try:
        try:
            raise KeyError("inner")
        except KeyError as error:
            raise MyError("outer") from error
    except MyError as error:
        return error
e = chain()
print(repr(e), repr(e.__cause__), e.__suppress_context__)
try:
    try:
        1 / 0
    except ZeroDivisionError:
        raise TypeError("second")
except TypeError as error:
    print(repr(error.__context__), error.__cause__)

def nested():
    for i in range(3):
        try:
            try:
                if i == 1:
                    continue
                if i == 2:
                    break
                print("body", i)
            finally:
                print("inner finally", i)
        finally:
            print("outer finally", i)
    return "end"
print(nested())

def reraise():
    try:
        raise ValueError("again")
    except ValueError:
        try:
            raise
        except ValueError as error:
            return str(error)
print(reraise())

def swallow():
    try:
        raise ValueError
    finally:
        return "swallowed"
print(swallow())

class CM:
    def __init__(self, name, suppress=False):
        self.name = name
        self.suppress = suppress
    def __enter__(self):
        print("enter", self.name)
        return self.name
    def __exit__(self, kind, value, tb):
        print("exit", self.name, kind.__name__ if kind else None)
        return self.suppress
with CM("a") as a, CM("b", True) as b:
    print(a, b)
    raise KeyError("x")
print("after")
def early():
    with CM("r"):
        return 5
print(early())
for i in range(2):
    with CM(i):
        if i == 0:
            continue
        break
try:
    with CM("p"):
        raise MyError("through")
except MyError as error:
    print("got", error)
try:
    raise MyError
except MyError as error:
    print(repr(error), str(error) == "")
def deep(n):
    return deep(n + 1)
try:
    deep(0)
except RecursionError:
    print("recursion")
raise MyError("final")
