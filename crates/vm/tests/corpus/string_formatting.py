values = [0, 1, -1, 42, 12345678, -0.0, 3.14159, 1e10, 1e-10, 123456.789, 2.5, 1e16, 1e22, float('inf'), float('-inf')]
specs = ['', 'd', '5', '<8', '>8', '^8', '+', ' ', '08', ',', '_', 'x', 'b', 'o', 'X', '#x', '#010b', '.2f', '10.3f', '-10.1f', '+.3e', '.3g', 'g', 'e', '%', '.1%', '*^12', '=+9', ',.2f', '.0f', 'c', 'n']
for spec in specs:
    row = []
    for value in values:
        try:
            row.append(format(value, spec))
        except (ValueError, TypeError, OverflowError) as error:
            row.append(type(error).__name__)
    print(repr(spec), row)
for text in ('', 'abc', 'héllo', 'a\tb'):
    print([format(text, spec) for spec in ('', '10', '>10', '^10', '*<6', '.2', '>6.1', 's')])
name, width, n = 'world', 12, 3.14159
print(f'{name!r:>{width}}|{n:{width}.{2}f}|{n!s:.4}|{{}}|{name.upper()}|{n=}|{name = }|{n = :.2f}')
print(f"{'nested ' + f'{name}'!r} {[x * 2 for x in range(3)]} { {'a': 1}['a'] } {lambda_ if (lambda_ := 5) else 0}")
print('{} {} {}'.format(1, 'two', 3.0), '{2} {0} {1}'.format('a', 'b', 'c'), '{name} {0[1]} {d[key]} {o.real}'.format([1, 2], name='n', d={'key': 'v'}, o=5))
print('{:>{w}} {:{fill}^{w}}'.format('r', 'c', w=6, fill='*'), '{!r} {!s} {!a}'.format('é', 'é', 'é'))
print('%s %r %d %5d %-5d| %05d %+d %x %X %o %e %.2f %g %c %%' % ('s', 'r', 1, 2, 3, 4, 5, 255, 255, 8, 12345.678, 3.14159, 0.0001, 'c'))
print('%(a)s-%(b)03d' % {'a': 1, 'b': 2}, '%*d|%-*d|%.*f' % (5, 1, 5, 2, 2, 3.14159), '%s' % (1,), '%s' % [1, 2], '%5s|%-5s|%.2s' % ('a', 'b', 'cde'))
for bad in ('%d' , '%s %s', '%z'):
    try:
        print(bad % 'x')
    except (TypeError, ValueError) as error:
        print(type(error).__name__, error)
for bad in ('{', '}', '{0} {}', '{x}', '{5}', '{!z}'):
    try:
        print(bad.format(1))
    except (ValueError, KeyError, IndexError) as error:
        print(type(error).__name__)
print(str(1e15), str(1e16), repr(0.1 + 0.2), 1 / 3, 100.0, 1e100, 5e-324, 1.7976931348623157e308, 123456789012345680.0, -0.0, 1e-5, 0.0001)
print(round(2.5), round(3.5), round(-2.5), round(2.675, 2), round(1234.5678, -2), round(5, 1), round(15, -1), round(25, -1))
