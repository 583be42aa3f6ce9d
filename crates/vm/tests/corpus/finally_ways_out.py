# A return whose finally goes another way: what was to be returned is given up.
def goes_on(n):
    seen = []
    for i in range(n):
        try:
            seen.append(i)
            if i == 1:
                return 'early'
        finally:
            if i == 1:
                continue
    return seen


def breaks_out(items):
    for item in items:
        for other in items:
            try:
                return item, other
            finally:
                break
        else:
            return 'never'
    return 'all broken'


def overrides():
    try:
        return 'first'
    finally:
        return 'second'


def inside_a_handler():
    out = []
    for i in range(3):
        try:
            raise ValueError(i)
        except ValueError as error:
            try:
                return error
            finally:
                out.append(str(error))
                if i < 2:
                    continue
                return out


def handler_and_return():
    try:
        raise KeyError('k')
    except KeyError:
        try:
            return 1
        finally:
            return 2


class Noted:
    log = []

    def __init__(self, name):
        self.name = name

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.log.append((self.name, kind.__name__ if kind else None))


def through_managers():
    while True:
        with Noted('outer'):
            try:
                with Noted('inner'):
                    return 'gone'
            finally:
                break
    return 'broke'


def nested(n):
    total = 0
    for i in range(n):
        try:
            try:
                return total
            finally:
                total += 1
                if i % 2:
                    continue
        finally:
            total += 10
            if i < n - 1:
                continue
    return ('end', total)


def raised_and_dropped():
    for i in range(2):
        try:
            raise RuntimeError('lost')
        finally:
            continue
    return 'quiet'


def generator():
    for i in range(3):
        try:
            yield i
            return 'stopped'
        finally:
            if i < 2:
                continue


def loop_over_returns():
    results = []
    for word in ['a', 'b']:
        for k in range(2):
            try:
                if k == 0:
                    return results
            finally:
                results.append(word + str(k))
                if len(results) < 4:
                    continue
    return 'past', results


print(goes_on(3), breaks_out([1, 2]), overrides(), inside_a_handler(), handler_and_return())
print(through_managers(), Noted.log, nested(4), raised_and_dropped(), list(generator()))
print(loop_over_returns())
try:
    raise LookupError('outside')
except LookupError:
    print(handler_and_return(), goes_on(2))
    try:
        raise
    except LookupError as error:
        print(repr(error), error.__context__)
