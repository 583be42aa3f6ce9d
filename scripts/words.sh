#!/usr/bin/env bash
# Fails on habits of language that make documents, comments, messages and logs hard to read.
#
#   scripts/words.sh             every hit, then counts by crate
#   scripts/words.sh --counts    counts only
#
# Reads tracked .md files, and comments and string literals of tracked .rs files. Quotations that have to stay
# are in scripts/words-allow.txt.
set -euo pipefail
cd "$(dirname "$0")/.."
exec python3 - "$@" <<'PYTHON'
import re, subprocess, sys
from collections import Counter, defaultdict

PHRASES = [
    ("whoever", r"\bwhoever\b"),
    ("question as a sentence", r"(?:\A|[.!?:]\s+|\n\s*\n\s*)(?:Whose|Which|Why|Where|When|How much|How many)\.(?=\s|\Z)"),
    ("of no use", r"\bof\s+no\s+use\b"),
    ("anew", r"\banew\b"),
    ("heard", r"\b(?:is|are|was|were)\s+(?:not\s+)?heard\b|\bnobody\s+hears\b"),
]
PHRASES = [(name, re.compile(pattern, re.I if name != "question as a sentence" else 0)) for name, pattern in PHRASES]
LOG = re.compile(r"(?<![\w:])(tracing::)?(trace|debug|info|warn|error)!\s*\(")
TOKEN = re.compile(
    r'''(?P<comment>//[^\n]*|/\*.*?\*/)
      | (?P<raw>\bb?c?r(?P<hash>\#*)"(?P<raw_text>.*?)"(?P=hash))
      | (?P<string>b?c?"(?P<text>(?:[^"\\]|\\.)*)")
      | '(?:[^'\\\n]|\\[^\n]{1,9}?)' ''',
    re.S | re.X,
)

def tokens(source):
    """Comments and strings as (kind, offset, text); neighbouring line comments are one."""
    found = []
    for m in TOKEN.finditer(source):
        if m["comment"] is not None:
            text = re.sub(r"(?m)^\s*(//[/!]?|/\*[*!]?)", lambda x: " " * len(x[0]), m["comment"])
            last = found[-1] if found else None
            if last and last[0] == "comment" and re.fullmatch(r"\n[ \t]*", source[last[1] + len(last[2]):m.start()]):
                found[-1] = ("comment", last[1], last[2] + source[last[1] + len(last[2]):m.start()] + text)
            else:
                found.append(("comment", m.start(), text))
        elif m["raw"] is not None:
            found.append(("string", m.start("raw_text"), m["raw_text"]))
        elif m["string"] is not None:
            found.append(("string", m.start("text"), re.sub(r"\\\n", "  ", m["text"])))
    return found

def arguments(masked, start):
    """The spans of a macro's arguments; `start` is behind its parenthesis."""
    depth, begin, spans = 0, start, []
    for at in range(start, len(masked)):
        c = masked[at]
        if c in "([{":
            depth += 1
        elif c in ")]}" and depth == 0:
            return spans + [(begin, at)]
        elif c in ")]}":
            depth -= 1
        elif c == "," and depth == 0:
            spans.append((begin, at))
            begin = at + 1
    return spans

def logs(source, found):
    """Offsets of log macros whose message is not a constant string literal."""
    if "tracing" not in source:
        return
    masked = list(source)
    for kind, offset, text in found:
        masked[offset:offset + len(text)] = "_" * len(text)
    masked = "".join(masked)
    for m in LOG.finditer(masked):
        if not m[1] and not re.search(r"use tracing::[^;]*\b" + m[2], source):
            continue
        messages = [source[a:b].strip() for a, b in arguments(masked, m.end())]
        messages = [arg for arg in messages if arg.startswith('"')]
        constant = len(messages) == 1 and not re.search(r"(?<!\{)\{(?!\{)", messages[0])
        if not constant:
            yield m.start()

def hits(path, source):
    if path.endswith(".md"):
        found = [("text", 0, source)]
    else:
        found = tokens(source)
        for at in logs(source, found):
            yield "log message not constant", at
    for kind, offset, text in found:
        for name, pattern in PHRASES:
            if name == "question as a sentence" and kind == "string":
                continue
            if name == "question as a sentence":
                text = re.sub(r"(?m)^\s+", lambda x: re.sub(r"[^\n]", " ", x[0]), text)
            for m in pattern.finditer(text if kind != "comment" else text.lstrip()):
                skipped = len(text) - len(text.lstrip()) if kind == "comment" else 0
                last_word = m.end() - len(m[0].split()[-1])
                yield name, offset + skipped + last_word

def allowed():
    lines = open("scripts/words-allow.txt", encoding="utf-8").read().splitlines()
    return [tuple(line.split(": ", 1)) for line in lines if line.strip() and not line.startswith("#")]

allow = allowed()
unused = set(allow)
counts = defaultdict(Counter)
listing = subprocess.run(["git", "ls-files", "-z", "*.md", "*.rs"], check=True, capture_output=True, text=True)
for path in listing.stdout.split("\0"):
    if not path or path.startswith("patches/"):
        continue
    source = open(path, encoding="utf-8").read()
    for name, at in hits(path, source):
        line = source.count("\n", 0, at) + 1
        text = source.splitlines()[line - 1].strip()
        quoted = [entry for entry in allow if entry[0] == path and entry[1] in text]
        if quoted:
            unused.difference_update(quoted)
            continue
        parts = path.split("/")
        counts["/".join(parts[:2]) if parts[0] == "crates" else parts[0] if len(parts) > 1 else "."][name] += 1
        if "--counts" not in sys.argv:
            print(f"{path}:{line}: {name}: {text[:100]}")
total = sum((counter for counter in counts.values()), Counter())
for place, counter in sorted(counts.items()):
    print(f"{place:18} {sum(counter.values()):5}  " + ", ".join(f"{name} {n}" for name, n in counter.most_common()))
for path, text in sorted(unused):
    print(f"scripts/words-allow.txt: nothing in {path} needs {text!r}")
print(f"words: {sum(total.values())} hits" + "".join(f", {name} {n}" for name, n in total.most_common()))
sys.exit(bool(total or unused))
PYTHON
