# Sums are exact: numbers are fractions until the end.
from fractions import Fraction
import math as _math
from collections import Counter as _Counter


class StatisticsError(ValueError):
    pass


def _exact(data):
    total = Fraction(0)
    whole = True
    count = 0
    for item in data:
        if isinstance(item, float):
            whole = False
        total += Fraction(item)
        count += 1
    return total, count, whole and all([isinstance(item, int) for item in data]), any([isinstance(item, Fraction) for item in data])


def _shown(value, whole, fraction):
    if fraction:
        return value
    if whole and value.denominator == 1:
        return value.numerator
    return value.numerator / value.denominator


def mean(data):
    data = list(data)
    if not data:
        raise StatisticsError('mean requires at least one data point')
    total, count, whole, fraction = _exact(data)
    return _shown(total / count, whole, fraction)


def fmean(data, weights=None):
    data = [float(item) for item in data]
    if weights is not None:
        weights = list(weights)
        if len(weights) != len(data):
            raise StatisticsError('data and weights must be the same length')
        total = _math.fsum(weights)
        if not total:
            raise StatisticsError('sum of weights must be non-zero')
        return _math.fsum([item * weight for item, weight in zip(data, weights)]) / total
    if not data:
        raise StatisticsError('fmean requires at least one data point')
    return _math.fsum(data) / len(data)


def geometric_mean(data):
    data = list(data)
    if not data or min(data) <= 0:
        raise StatisticsError('geometric mean requires a non-empty dataset containing positive numbers')
    return _math.exp(fmean([_math.log(item) for item in data]))


def harmonic_mean(data, weights=None):
    data = list(data)
    if not data:
        raise StatisticsError('harmonic_mean requires at least one data point')
    if min(data) < 0:
        raise StatisticsError('harmonic mean does not support negative values')
    if 0 in data:
        return 0
    weights = [1] * len(data) if weights is None else list(weights)
    total = sum([Fraction(weight) / Fraction(item) for item, weight in zip(data, weights)])
    return _shown(sum([Fraction(weight) for weight in weights]) / total, False,
                  any([isinstance(item, Fraction) for item in data]))


def _sorted_data(data):
    data = sorted(data)
    if not data:
        raise StatisticsError('no median for empty data')
    return data


def median(data):
    data = _sorted_data(data)
    half = len(data) // 2
    return data[half] if len(data) % 2 else (data[half - 1] + data[half]) / 2


def median_low(data):
    data = _sorted_data(data)
    return data[(len(data) - 1) // 2]


def median_high(data):
    data = _sorted_data(data)
    return data[len(data) // 2]


def mode(data):
    pairs = _Counter(iter(data)).most_common(1)
    if not pairs:
        raise StatisticsError('no mode for empty data')
    return pairs[0][0]


def multimode(data):
    counts = _Counter(iter(data))
    most = max(counts.values(), default=0)
    return [value for value, count in counts.items() if count == most]


def quantiles(data, *, n=4, method='exclusive'):
    if n < 1:
        raise StatisticsError('n must be at least 1')
    data = sorted(data)
    count = len(data)
    if count < 2:
        raise StatisticsError('must have at least two data points')
    result = []
    if method == 'inclusive':
        for i in range(1, n):
            j, delta = divmod(i * (count - 1), n)
            result.append((data[j] * (n - delta) + data[j + 1] * delta) / n)
        return result
    if method != 'exclusive':
        raise ValueError('Unknown method: ' + repr(method))
    for i in range(1, n):
        j = i * (count + 1) // n
        j = 1 if j < 1 else count - 1 if j > count - 1 else j
        delta = i * (count + 1) - j * n
        result.append((data[j - 1] * (n - delta) + data[j] * delta) / n)
    return result


def _spread(data, least, name, centre):
    data = list(data)
    if len(data) < least:
        raise StatisticsError(name + ' requires at least ' + ('two data points' if least == 2 else 'one data point'))
    total, count, whole, fraction = _exact(data)
    middle = total / count if centre is None else Fraction(centre)
    squares = Fraction(0)
    for item in data:
        squares += (Fraction(item) - middle) ** 2
    return squares / (count - least + 1), whole, fraction


def variance(data, xbar=None):
    return _shown(*_spread(data, 2, 'variance', xbar))


def pvariance(data, mu=None):
    return _shown(*_spread(data, 1, 'pvariance', mu))


def _root(value):
    # The float nearest to the root: enough digits, and the last one says whether there are more.
    number, below = value.numerator, value.denominator
    shift = (number.bit_length() - below.bit_length() - 109) // 2
    if shift >= 0:
        root = _odd_root(number, below << 2 * shift) << shift
        return float(root)
    root = _odd_root(number << -2 * shift, below)
    return root / (1 << -shift)


def _odd_root(number, below):
    root = _math.isqrt(number // below)
    return root | (root * root * below != number)


def stdev(data, xbar=None):
    return _root(_spread(data, 2, 'stdev', xbar)[0])


def pstdev(data, mu=None):
    return _root(_spread(data, 1, 'pstdev', mu)[0])


def covariance(x, y, /):
    if len(x) != len(y):
        raise StatisticsError('covariance requires that both inputs have same number of data points')
    if len(x) < 2:
        raise StatisticsError('covariance requires at least two data points')
    left, right = _math.fsum(x) / len(x), _math.fsum(y) / len(y)
    return _math.fsum([(a - left) * (b - right) for a, b in zip(x, y)]) / (len(x) - 1)


def correlation(x, y, /):
    if len(x) != len(y):
        raise StatisticsError('correlation requires that both inputs have same number of data points')
    if len(x) < 2:
        raise StatisticsError('correlation requires at least two data points')
    left, right = _math.fsum(x) / len(x), _math.fsum(y) / len(y)
    both = _math.fsum([(a - left) * (b - right) for a, b in zip(x, y)])
    first = _math.fsum([(a - left) ** 2 for a in x])
    second = _math.fsum([(b - right) ** 2 for b in y])
    if not first * second:
        raise StatisticsError('at least one of the inputs is constant')
    return both / _math.sqrt(first * second)


def linear_regression(x, y, /, *, proportional=False):
    from collections import namedtuple
    if len(x) != len(y):
        raise StatisticsError('linear regression requires that both inputs have same number of data points')
    if len(x) < 2:
        raise StatisticsError('linear regression requires at least two data points')
    import math
    middle_x, middle_y = (0, 0) if proportional else (math.fsum(x) / len(x), math.fsum(y) / len(y))
    both = math.fsum([(a - middle_x) * (b - middle_y) for a, b in zip(x, y)])
    own = math.fsum([(a - middle_x) ** 2.0 for a in x])
    if own == 0:
        raise StatisticsError('x is constant')
    slope = both / own
    return namedtuple('LinearRegression', ('slope', 'intercept'))(slope, 0.0 if proportional else middle_y - slope * middle_x)
