"""Runs the measurements of `remuda bench vm` in Monty, which has no clock of its own: time is taken outside.

As `remuda bench vm` wants it of an interpreter: --version, or -c with the script, whose functions are used.
"""

import sys
import time

import pydantic_monty

BATCHES = 10


def best(session, each, call):
    # The way into the worker process is taken once for a batch.
    batch = f"for _ in range({each}):\n    {call}\n"
    found = []
    for _ in range(BATCHES):
        start = time.perf_counter_ns()
        session.feed_run(batch)
        found.append((time.perf_counter_ns() - start) // each)
    return min(found)


def main():
    if sys.argv[1:] == ["--version"]:
        from importlib.metadata import version
        print("Monty", version("pydantic-monty"))
        return
    script = sys.argv[2]
    functions = script[script.index("n = 0"):script.index("print(")]
    with pydantic_monty.Monty() as pool, pool.checkout() as session:
        session.feed_run(functions)
        calls = [(50_000, "handler(1)"), (1, "loop()"), (20, "storage()")]
        print(*[best(session, each, call) for each, call in calls])


main()
