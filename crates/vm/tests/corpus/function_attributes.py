def f():
    """Doc."""
    return 1
print(f.__doc__, f.__name__, (lambda: 0).__name__, f.__class__.__name__)
f.attr = 3; print(f.attr, f.__dict__)
