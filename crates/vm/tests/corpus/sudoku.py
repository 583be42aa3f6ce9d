PUZZLE = '530070000600195000098000060800060003400803001700020006060000280000419005000080079'


def cross(rows, columns):
    return [r + c for r in rows for c in columns]


ROWS, DIGITS = 'ABCDEFGHI', '123456789'
squares = cross(ROWS, DIGITS)
unitlist = ([cross(ROWS, c) for c in DIGITS] + [cross(r, DIGITS) for r in ROWS]
            + [cross(rs, cs) for rs in ('ABC', 'DEF', 'GHI') for cs in ('123', '456', '789')])
units = {s: [u for u in unitlist if s in u] for s in squares}
peers = {s: [p for p in squares if p != s and any(p in u for u in units[s])] for s in squares}


def parse(grid):
    values = {s: DIGITS for s in squares}
    for s, d in zip(squares, grid):
        if d in DIGITS and not assign(values, s, d):
            return None
    return values


def assign(values, s, d):
    others = values[s].replace(d, '')
    return all(eliminate(values, s, other) for other in others) and values or None


def eliminate(values, s, d):
    if d not in values[s]:
        return values
    values[s] = values[s].replace(d, '')
    if not values[s]:
        return None
    if len(values[s]) == 1:
        last = values[s]
        if not all(eliminate(values, p, last) for p in peers[s]):
            return None
    for u in units[s]:
        places = [p for p in u if d in values[p]]
        if not places:
            return None
        if len(places) == 1 and not assign(values, places[0], d):
            return None
    return values


def search(values):
    if values is None:
        return None
    if all(len(values[s]) == 1 for s in squares):
        return values
    _, s = min((len(values[s]), s) for s in squares if len(values[s]) > 1)
    for d in values[s]:
        found = search(assign(values.copy(), s, d))
        if found:
            return found
    return None


solved = search(parse(PUZZLE))
for r in ROWS:
    print(' '.join(solved[r + c] for c in DIGITS))
