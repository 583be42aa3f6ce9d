from itertools import groupby


def encode(text):
    return ''.join(f'{len(list(run))}{char}' for char, run in groupby(text))


def decode(text):
    out, count = [], ''
    for char in text:
        if char.isdigit():
            count += char
        else:
            out.append(char * int(count))
            count = ''
    return ''.join(out)


def lzw(text):
    table = {chr(i): i for i in range(128)}
    out, current = [], ''
    for char in text:
        if current + char in table:
            current += char
        else:
            out.append(table[current])
            table[current + char] = len(table)
            current = char
    return out + ([table[current]] if current else [])


def unlzw(codes):
    table = {i: chr(i) for i in range(128)}
    previous = table[codes[0]]
    out = [previous]
    for code in codes[1:]:
        entry = table[code] if code in table else previous + previous[0]
        out.append(entry)
        table[len(table)] = previous + entry[0]
        previous = entry
    return ''.join(out)


def morse(text):
    table = dict(zip('abcdefghijklmnopqrstuvwxyz', '.- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --..'.split()))
    back = {v: k for k, v in table.items()}
    sent = ' / '.join(' '.join(table[c] for c in word) for word in text.split())
    return sent, ' '.join(''.join(back[c] for c in word.split()) for word in sent.split(' / '))


def bwt(text):
    text += '$'
    rows = sorted(text[i:] + text[:i] for i in range(len(text)))
    return ''.join(row[-1] for row in rows)


def unbwt(last):
    rows = [''] * len(last)
    for _ in last:
        rows = sorted(char + row for char, row in zip(last, rows))
    return next(row for row in rows if row.endswith('$'))[:-1]


def luhn(number):
    digits = [int(d) for d in str(number)][::-1]
    return (sum(digits[::2]) + sum(sum(divmod(2 * d, 10)) for d in digits[1::2])) % 10 == 0


def soundex(name):
    codes = {c: str(n) for n, group in enumerate(('bfpv', 'cgjkqsxz', 'dt', 'l', 'mn', 'r'), 1) for c in group}
    out, last = name[0].upper(), codes.get(name[0].lower())
    for char in name[1:].lower():
        code = codes.get(char)
        if code and code != last:
            out += code
        if char not in 'hw':
            last = code
    return (out + '000')[:4]


for text in ('aaabccd', 'x', 'zzzzzzzzzzzz'):
    print(encode(text), decode(encode(text)) == text)
text = 'tobeornottobeortobeornot'
print(lzw(text), unlzw(lzw(text)) == text, len(lzw('a' * 100)), unlzw(lzw('abababa')))
print(*morse('sos we sink'), sep='\n')
print(bwt('banana'), unbwt(bwt('mississippi')), [luhn(n) for n in (79927398713, 4539578763621486, 1234567890)])
print([soundex(name) for name in ('Robert', 'Rupert', 'Tymczak', 'Pfister', 'Honeyman')])
