#!/usr/bin/env python3
"""Lists the MUST sentences of docs/spec, and which tests and sources cite their sections.

A citation is a comment that names a section: `// spec §6.9`, or `spec §6.9, §6.12`.
Usage: scripts/spec-coverage.py [--list | --uncited]
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADING = re.compile(r"^## (\d+\.\d+) (.*)$")
CITATION = re.compile(r"spec ((?:§\d+(?:\.\d+)?(?:,\s*(?://[/!]?\s*)?| and )?)+)")


def sentences(text):
    """Sentences of a paragraph or a cell; a dot inside of a number or a name ends none."""
    for part in re.split(r"(?<=[.])\s+(?=[A-Z`0-9(])", text):
        if re.search(r"\bMUST\b", part):
            yield part.strip(" -|")


def musts():
    """(file, section, sentence) of every sentence with a MUST."""
    for path in sorted((ROOT / "docs/spec").glob("[0-9]*.md")):
        section, fenced, paragraph = None, False, []

        def flush():
            text = " ".join(paragraph)
            paragraph.clear()
            return [(path.name, section, sentence) for sentence in sentences(text)]

        for line in path.read_text().splitlines() + [""]:
            fenced ^= line.startswith("```")
            heading = HEADING.match(line)
            if heading or not line.strip() or line.startswith(("- ", "|", "```", "<")):
                yield from flush()
            if heading:
                section = heading.group(1)
            elif not fenced and line.startswith("|"):
                for cell in line.split("|"):
                    yield from ((path.name, section, sentence) for sentence in sentences(cell))
            elif not fenced and not line.startswith("```"):
                paragraph.append(line.strip())


def citations():
    """Where each section is cited: section → [file:line], tests first."""
    cited = {}
    for path in sorted(ROOT.glob("crates/**/*.rs")):
        name = str(path.relative_to(ROOT))
        text = path.read_text()
        for match in CITATION.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            for section in re.findall(r"§(\d+(?:\.\d+)?)", match.group(1)):
                cited.setdefault(section, []).append(f"{name}:{line}")
    return {section: sorted(places, key=is_source) for section, places in cited.items()}


def is_source(place):
    name = place.split(":")[0]
    return not ("/tests/" in name or name.endswith("/tests.rs"))


def main():
    option = sys.argv[1] if len(sys.argv) > 1 else ""
    if option not in ("", "--list", "--uncited"):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    cited, found = citations(), list(musts())
    tested = 0
    for file, section, sentence in found:
        places = cited.get(section, [])
        tests = [place for place in places if not is_source(place)]
        tested += bool(tests)
        if option == "--list" or option == "--uncited" and not tests:
            print(f"§{section} {sentence}")
            for place in places if option == "--list" else []:
                print(f"    {place}")
            if option == "--list" and not tests:
                print("    no test cites this section")
    unknown = sorted(set(cited) - {section for section in sections()})
    for section in unknown:
        print(f"§{section} is cited and does not exist: {', '.join(cited[section])}")
    print(f"spec: {len(found)} MUST sentences, {len(found) - tested} without a test that cites their section")
    return 0


def sections():
    for path in (ROOT / "docs/spec").glob("[0-9]*.md"):
        for line in path.read_text().splitlines():
            heading = HEADING.match(line)
            if heading:
                yield heading.group(1)


if __name__ == "__main__":
    sys.exit(main())
