# format mini language
for spec in ['', '5', '<5', '>5', '^5', '*^7', '05', '+', '-', ' ', '+05', ',', '_', 'b', 'o', 'x', 'X', '#b', '#o', '#x', '#X', '08b', '#010x', '_b', '_x', 'c', 'd', 'n', 'e', 'f', 'g', '%', '.2f', '10.3e', '=+8', '0=8', '*=8', 'E', 'G', '#_x']:
    for v in (65, 0, -42, 1234567):
        try:
            print(repr(spec), v, '[' + format(v, spec) + ']')
        except Exception as e:
            print(repr(spec), v, type(e).__name__, e)
for spec in ['', '.0f', '.1f', '.3f', 'e', '.0e', 'g', '.3g', '#.3g', '%', '.1%', ',', ',.2f', '_.2f', '010.2f', '+.1f', ' .1f', '<10', '>10', '^10', '=10', 'n', 'G', 'E', 'F', '.10g', '.17g', 'z.1f', '#g', '#.0f', 'd', 'x', 's']:
    for v in (3.14159, 0.0, -0.0, 1e20, 1.5e-7, float('inf'), float('-inf'), float('nan'), 123456789.987654321, -0.04):
        try:
            print(repr(spec), v, '[' + format(v, spec) + ']')
        except Exception as e:
            print(repr(spec), v, type(e).__name__, e)
for spec in ['', '10', '<10', '>10', '^10', '*^10', '.2', '10.2', 's', '=10', 'd', '+', ',', '05']:
    for v in ('hello', 'é', ''):
        try:
            print(repr(spec), v, '[' + format(v, spec) + ']')
        except Exception as e:
            print(repr(spec), v, type(e).__name__, e)
for v in (True, None, [1], (1, 2), {'a': 1}, 3):
    for spec in ('', '5', 'd', '>10'):
        try:
            print(repr(spec), v, '[' + format(v, spec) + ']')
        except Exception as e:
            print(repr(spec), v, type(e).__name__, e)
