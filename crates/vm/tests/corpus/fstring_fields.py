x = 42; y = 3.14159; s = 'hi'; d = {'a': 1, 'b': [1, 2]}
w, p = 10, 3
print(f'{x!r} {s!r} {s!a} {s!s:>5} {y:{w}.{p}f}| {y:{w}.{p}}')
print(f'{x=} {y=:.2f} {s=} {s=!s} {x + 1 = } { x = }')
print(f'{{}} {{{x}}} {x:}')
print(f"{d['a']} {d['b'][1]} {d!r:>30}")
print(f'{"nested " + f"{x}"}')
print(f'{x:#x} {x:08b} {x:+d} {x:,} {1234567:,} {1234567.891:,.1f}')
print(f'{x if x > 3 else "no"} {[i*i for i in range(3)]} {(lambda a: a*2)(4)}')
print(f'''multi
{x}
line''')
print(f'{s:*^10}', f'{s:<{w}}|', f'{True}', f'{None}', f'{None!r:>6}')
print('a' f'{x}' 'b' f'{s}')
print(rf'\n{x}\t', f'\n{x}\t'.encode())
print(f'{"é"!a} {"日本"!a} {"😀"!a}')
class P:
    def __format__(self, spec): return f'<{spec}>'
    def __str__(self): return 'S'
    def __repr__(self): return 'R'
p = P()
print(f'{p} {p:abc} {p!r} {p!s:>4} {p!r:<4}|')
print('{} {:x} {!r}'.format(p, p, p), format(p), str(p), '%s %r' % (p, p))
class Q: 
    def __str__(self): return 'Q!'
print(f'{Q()}')
try: print(f'{Q():>5}')
except TypeError as e: print(e)
v = 12.5
print(f'{v:.0f} {13.5:.0f} {0.5:.0f} {1.5:.0f} {2.675:.2f} {1e16:.0f} {123456789012345678:e}')
print(f'{1e300*10:.2e}' , f'{5e-324}', f'{2**64}', f'{-7 // 2} {-7 % 3}')
