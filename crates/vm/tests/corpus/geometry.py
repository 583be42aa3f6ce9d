import math
from collections import namedtuple
from functools import reduce
from operator import itemgetter

Point = namedtuple('Point', 'x y')


def cross(o, a, b):
    return (a.x - o.x) * (b.y - o.y) - (a.y - o.y) * (b.x - o.x)


def hull(points):
    points = sorted(set(points))

    def half(points):
        out = []
        for p in points:
            while len(out) > 1 and cross(out[-2], out[-1], p) <= 0:
                out.pop()
            out.append(p)
        return out[:-1]

    return half(points) + half(points[::-1])


def area(polygon):
    return abs(sum(a.x * b.y - b.x * a.y for a, b in zip(polygon, polygon[1:] + polygon[:1]))) / 2


def inside(point, polygon):
    result = False
    for a, b in zip(polygon, polygon[1:] + polygon[:1]):
        if (a.y > point.y) != (b.y > point.y) and point.x < (b.x - a.x) * (point.y - a.y) / (b.y - a.y) + a.x:
            result = not result
    return result


def closest(points):
    points = sorted(points)

    def solve(points):
        if len(points) <= 3:
            return min((math.dist(a, b) if hasattr(math, 'dist') else math.hypot(a.x - b.x, a.y - b.y), a, b) for i, a in enumerate(points) for b in points[i + 1:])
        middle = len(points) // 2
        best = min(solve(points[:middle]), solve(points[middle:]))
        strip = sorted((p for p in points if abs(p.x - points[middle].x) < best[0]), key=itemgetter(1))
        for i, a in enumerate(strip):
            for b in strip[i + 1:i + 8]:
                best = min(best, (math.hypot(a.x - b.x, a.y - b.y), min(a, b), max(a, b)))
        return best

    return solve(points)


def segments_cross(p, q, r, s):
    return cross(p, q, r) * cross(p, q, s) < 0 and cross(r, s, p) * cross(r, s, q) < 0


points = [Point(*pair) for pair in ((0, 0), (4, 0), (4, 3), (0, 3), (2, 1), (1, 2), (3, 2), (2, 5), (2, 1))]
shape = hull(points)
print(shape, area(shape), [inside(Point(*p), shape) for p in ((2, 2), (5, 5), (0.5, 0.5), (-1, 1))])
distance, a, b = closest(points[:4] + [Point(10, 10), Point(10.5, 10)])
print(round(distance, 6), a, b)
print(segments_cross(Point(0, 0), Point(2, 2), Point(0, 2), Point(2, 0)), segments_cross(Point(0, 0), Point(1, 0), Point(0, 1), Point(1, 1)))
centre = Point(*(sum(c) / len(points) for c in zip(*points)))
print(round(centre.x, 4), round(centre.y, 4), reduce(lambda box, p: (min(box[0], p.x), min(box[1], p.y), max(box[2], p.x), max(box[3], p.y)), points, (9, 9, -9, -9)))
print(math.hypot(3, 4), math.sqrt(2), math.floor(-2.5), math.ceil(2.1), math.trunc(-2.7), math.copysign(3, -0.0), math.isclose(0.1 + 0.2, 0.3), math.degrees(math.pi), math.fsum([0.1] * 10), math.gcd(12, 18), math.isqrt(17))
print(math.inf > 10, math.isnan(math.nan), math.modf(2.5), math.frexp(8.0), math.ldexp(0.5, 4), math.factorial(10), math.comb(5, 2), math.prod([2, 3, 4]), math.tau == 2 * math.pi)
