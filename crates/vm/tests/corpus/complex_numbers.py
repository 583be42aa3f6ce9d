import cmath, math
z = 3 + 4j
print(z, abs(z), z.conjugate(), z * 1j, complex(1, -2), z == 3 + 4j, z.real, z.imag, type(z), -z, +z, bool(0j), bool(z))
print(1j * 1j, 2 ** 1j, z ** 2, z ** -1, z ** 0.5, z / (1 - 1j), 1 / z, z - 1, 1 - z, 2.5 * z, z + True, (1 + 2j) ** 3, 0j ** 2)
print(complex(), complex(2), complex(1.5, 2.5), complex('1+2j'), complex('-1.5e3j'), complex(' ( 1-j ) '.strip().replace(' ', '')), complex('3'), complex(1j, 1j), complex(True))
print(repr(1e300j), -0j, complex(-0.0, 0.0), complex(0.0, -0.0), 1e16 + 1e-7j, [1j, 2], {1j: 'a'}, (1 + 0j) == 1, hash(2 + 0j) == hash(2), hash(1 + 2j))
print(f'{z:.2f}', f'{z}', f'{1.5 - 2.25j:.1e}', format(z, ''), '%s' % z, str(1j), f'{z:>12}|', f'{1 + 1j:.3f}')
print((-8) ** (1 / 3), (-1) ** 0.5, pow(-4, 0.5))
for wrong in (lambda: z < 1j, lambda: complex('a'), lambda: 1j / 0, lambda: complex([]), lambda: 1j + 'a', lambda: int(1j), lambda: z // 2, lambda: 0j ** -1):
    try: print(wrong())
    except Exception as error: print(type(error).__name__, error if type(error) is not TypeError else '')
print(cmath.sqrt(-1), cmath.sqrt(3 + 4j), cmath.exp(1j * math.pi).real, cmath.phase(1j), cmath.polar(3 + 4j), cmath.rect(2, 0), cmath.isclose(1j, 1j + 1e-12), cmath.pi)
print(sum([1j, 2, 3.5]), sum(w for w in (1j, 1j)), max([1j, 2j], key=abs), sorted([3j, 1, 2 + 2j], key=abs), isinstance(1j, complex), isinstance(1, complex))
def mandelbrot(c, most=30):
    z = 0
    for n in range(most):
        if abs(z) > 2: return n
        z = z * z + c
    return most
for row in range(-3, 4):
    print(''.join('#' if mandelbrot(complex(column / 8, row / 3)) == 30 else '.' for column in range(-16, 6)))
def fft(a):
    n = len(a)
    if n == 1: return a
    even, odd = fft(a[::2]), fft(a[1::2])
    w = [cmath.exp(-2j * cmath.pi * k / n) * odd[k] for k in range(n // 2)]
    return [even[k] + w[k] for k in range(n // 2)] + [even[k] - w[k] for k in range(n // 2)]
print([f'{abs(x):.6f}' for x in fft([1, 2, 3, 4, 5, 6, 7, 8])])
seen, place, way = {0j}, 0j, 1
for turn in 'LRLLRRL':
    way *= 1j if turn == 'L' else -1j
    place += way
    seen.add(place)
print(place, len(seen))
match 1j:
    case complex(real=0, imag=i): print('imaginary', i)
