#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""usage: check.py PROJECT

Finds where a program of the folder PROJECT prints to the standard error by fmt or a stream, and not by support/files/tell.hpp:
fmt throws where that is closed or full, and a message that nobody can read would end the program.

examples:
  tests/repository/messages/check.py .
"""
import pathlib
import re
import sys

FOLDERS = ("bench", "stress", "support", "tools")
TELL = pathlib.Path("support/files/tell.hpp")
PRINTS = re.compile(r"\bprint(?:ln)?\(\s*(?:std::)?stderr\b|\bcerr\s*<<")


def main():
    if len(sys.argv) != 2 or sys.argv[1] in ("-h", "--help"):
        sys.stdout.write(__doc__)
        return 0 if sys.argv[1:] in (["-h"], ["--help"]) else 2
    project = pathlib.Path(sys.argv[1]).resolve()
    files = [file.relative_to(project) for folder in FOLDERS for file in sorted((project / folder).rglob("*.?pp"))]
    if TELL not in files:
        sys.stderr.write(f"check.py: {project} has no {TELL}\n")
        return 2
    wrong = False
    for file in files:
        text = (project / file).read_text()
        for found in PRINTS.finditer(text) if file != TELL else ():
            print(f"{file}:{text.count(chr(10), 0, found.start()) + 1}: prints there, and not by {TELL}", file=sys.stderr)
            wrong = True
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
