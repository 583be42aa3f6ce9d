from functools import cache
from itertools import permutations

LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


def winner(board):
    for a, b, c in LINES:
        if board[a] != '.' and board[a] == board[b] == board[c]:
            return board[a]
    return None if '.' in board else '='


@cache
def best(board, player):
    state = winner(board)
    if state:
        return {'X': 1, 'O': -1, '=': 0}[state], None
    choice = max if player == 'X' else min
    other = 'O' if player == 'X' else 'X'
    moves = ((best(board[:i] + player + board[i + 1:], other)[0], i) for i, cell in enumerate(board) if cell == '.')
    return choice(moves, key=lambda move: move[0])


def play(board, player):
    while not winner(board):
        _, move = best(board, player)
        board = board[:move] + player + board[move + 1:]
        player = 'O' if player == 'X' else 'X'
    return board


end = play('X...O....', 'X')
print('\n'.join(end[i:i + 3] for i in (0, 3, 6)), winner(end))
print(best('XX.OO....', 'X'), best('XX.OO....', 'O'), best('X.O.O....', 'X'))


def score(secret, guess):
    bulls = sum(a == b for a, b in zip(secret, guess))
    return bulls, len(set(secret) & set(guess)) - bulls


def solve(secret):
    candidates = [''.join(p) for p in permutations('12345', 3)]
    guesses = []
    while candidates:
        guess = candidates[0]
        result = score(secret, guess)
        guesses.append((guess, result))
        if result[0] == 3:
            return guesses
        candidates = [c for c in candidates[1:] if score(c, guess) == result]


for secret in ('524', '123', '351'):
    print(secret, solve(secret))
print(max(len(solve(''.join(p))) for p in permutations('12345', 3)))
