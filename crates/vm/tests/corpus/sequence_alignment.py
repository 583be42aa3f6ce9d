def needleman(a, b, match=1, mismatch=-1, gap=-1):
    rows, columns = len(a) + 1, len(b) + 1
    score = [[0] * columns for _ in range(rows)]
    for i in range(rows):
        score[i][0] = i * gap
    for j in range(columns):
        score[0][j] = j * gap
    for i in range(1, rows):
        for j in range(1, columns):
            score[i][j] = max(score[i - 1][j - 1] + (match if a[i - 1] == b[j - 1] else mismatch), score[i - 1][j] + gap, score[i][j - 1] + gap)
    i, j, top, bottom = len(a), len(b), '', ''
    while i or j:
        if i and j and score[i][j] == score[i - 1][j - 1] + (match if a[i - 1] == b[j - 1] else mismatch):
            i, j = i - 1, j - 1
            top, bottom = a[i] + top, b[j] + bottom
        elif i and score[i][j] == score[i - 1][j] + gap:
            i -= 1
            top, bottom = a[i] + top, '-' + bottom
        else:
            j -= 1
            top, bottom = '-' + top, b[j] + bottom
    return score[-1][-1], top, bottom


CODONS = dict(zip([a + b + c for a in 'TCAG' for b in 'TCAG' for c in 'TCAG'], 'FFLLSSSSYY**CC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG'))


def translate(dna):
    return ''.join(CODONS[dna[i:i + 3]] for i in range(0, len(dna) - 2, 3)).split('*')[0]


def complement(dna):
    return dna.translate(str.maketrans('ACGT', 'TGCA'))[::-1]


def kmp(text, pattern):
    table, k = [0], 0
    for char in pattern[1:]:
        while k and pattern[k] != char:
            k = table[k - 1]
        k += pattern[k] == char
        table.append(k)
    found, k = [], 0
    for i, char in enumerate(text):
        while k and (k == len(pattern) or pattern[k] != char):
            k = table[k - 1]
        k += pattern[k] == char
        if k == len(pattern):
            found.append(i - k + 1)
    return found


def suffix_array(text):
    return sorted(range(len(text)), key=lambda i: text[i:])


def palindrome(text):
    best = ''
    for centre in range(2 * len(text) - 1):
        low, high = centre // 2, (centre + 1) // 2
        while low >= 0 and high < len(text) and text[low] == text[high]:
            low, high = low - 1, high + 1
        best = max(best, text[low + 1:high], key=len)
    return best


for pair in (('GATTACA', 'GCATGCU'), ('kitten', 'sitting'), ('', 'abc'), ('same', 'same')):
    print(*needleman(*pair))
dna = 'ATGGCCATTGTAATGGGCCGCTGAAAGGGTGCCCGATAG'
print(translate(dna), complement(dna)[:12], {base: dna.count(base) for base in 'ACGT'}, round((dna.count('G') + dna.count('C')) / len(dna), 3))
print(kmp('abababcababab', 'abab'), kmp('aaaa', 'aa'), kmp('abc', 'x'), suffix_array('banana'), palindrome('forgeeksskeegfor'), palindrome('a'))
print(sum(a != b for a, b in zip('GAGCCTACTAACGGGAT', 'CATCGTAATGACGGCCT')), [dna[i:i + 4] for i in range(0, 12, 4)])
