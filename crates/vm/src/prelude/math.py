def dist(p, q, /):
    p = tuple(p)
    q = tuple(q)
    if len(p) != len(q):
        raise ValueError('both points must have the same number of dimensions')
    return hypot(*[a - b for a, b in zip(p, q)])


def ulp(x, /):
    if isnan(x) or isinf(x):
        return abs(x)
    x = abs(float(x))
    following = nextafter(x, inf)
    return x - nextafter(x, -inf) if isinf(following) else following - x
