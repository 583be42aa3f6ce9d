# Changes what is there before the program runs.
import collections
import json
import math
import string

import cowboy

collections.extra = ['added']
json.counter = 0


def note(self):
    return 'noted'


collections.Counter.note = note


async def main():
    out = []
    for n in range(4):
        json.counter += 1
        try:
            value = await cowboy.submit_job(n)
        except RuntimeError as error:
            value = str(error)
        collections.extra.append(value)
        out.append((json.counter, len(collections.extra), collections.Counter('aab').note()))
        out.append((math.gcd(12, 18), string.digits, json.dumps({'n': n, 'v': [value, None]})))
    return repr((out, collections.extra))
