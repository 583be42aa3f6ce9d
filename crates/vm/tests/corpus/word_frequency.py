import re
from collections import Counter

TEXT = '''It was the best of times, it was the worst of times, it was the age of wisdom, it was the
age of foolishness, it was the epoch of belief, it was the epoch of incredulity, it was the season
of Light, it was the season of Darkness, it was the spring of hope, it was the winter of despair.'''

words = re.findall(r"[a-z']+", TEXT.lower())
counts = Counter(words)
for word, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:8]:
    print(f'{word:<8}{count:>3} {"#" * count}')
pairs = Counter(zip(words, words[1:]))
print(pairs.most_common(3), len(words), len(counts))
longest = max(counts, key=lambda word: (len(word), word))
print(longest, {n: sum(len(w) == n for w in counts) for n in sorted({len(w) for w in counts})})
print(''.join(sorted(set(''.join(words)))), [w for w in counts if w == w[::-1]])


def caesar(text, shift):
    out = []
    for char in text:
        if char.isalpha():
            base = ord('a') if char.islower() else ord('A')
            char = chr((ord(char) - base + shift) % 26 + base)
        out.append(char)
    return ''.join(out)


secret = caesar(TEXT, 11)
best = max(range(26), key=lambda n: caesar(secret, n).count(' the '))
print(secret[:30], best, caesar(secret, best) == TEXT)
table = str.maketrans('aeiou', '01234', ' ,')
print(TEXT[:40].translate(table), TEXT[:20].translate({ord('t'): 'T', ord(' '): None}))
sentence = TEXT.split(',')[0]
print(' '.join(w[1:] + w[0] + 'ay' for w in sentence.split()), sentence.title(), sentence.replace('t', 'T', 2))
