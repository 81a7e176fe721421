#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""usage: check.py PROJECT

Finds what the documents of the folder PROJECT say of the tree that a program can compare with it:

  counts     no document says how many tests, mutants, models and the like there are, for the number would soon be wrong. Rows of
             a table with a date are results of that day, and CHANGELOG.md is history.
  orderings  docs/inside/orderings.md has the numbers of the ordered accesses in the sources: all of them, and no others.

examples:
  tests/repository/documents/check.py .
"""
import pathlib
import re
import sys

NUMBER = (r"(?:\d[\d,]*|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:-\w+)?|two|three|four|five|six|seven|eight|nine|"
          r"ten|eleven|twelve|\w+teen)")
COUNTED = r"(?:tests|mutants|patches|models|memory orders|numbered \w+|ordered accesses|scenarios|examples|fuzz targets|headers)"
COUNT = re.compile(rf"\b{NUMBER}\s+(?:of\s+(?:the\s+)?)?(?:(?!(?:in|of|and|or)\b)\w+\s+)?{COUNTED}\b", re.IGNORECASE)
DATED_ROW = re.compile(r"^\|.*\| \d{4}-\d\d-\d\d \|$", re.MULTILINE)
NUMBERED_ACCESS = re.compile(r"\((\d+)\)\s+(?:acquire|release|acq_rel|seq_cst)\b")


def documents(project):
    found = list(project.glob("*.md"))
    for folder in ("docs", "examples", "include", "stress", "tests"):
        found += (project / folder).rglob("*.md")
    return sorted(file for file in found if file.name != "CHANGELOG.md")


def counts(project):
    for file in documents(project):
        text = DATED_ROW.sub("", file.read_text())
        for count in COUNT.finditer(text):
            yield f"{file.relative_to(project)} counts what the tree has: '{' '.join(count[0].split())}'"


def orderings(project):
    sources = [file for folder in ("include", "src") for file in (project / folder).rglob("*.?pp")]
    in_sources = {int(number) for file in sources for number in NUMBERED_ACCESS.findall(file.read_text())}
    document = project / "docs/inside/orderings.md"
    in_document = {int(number) for row in re.findall(r"^\| (.*?) \|", document.read_text(), re.MULTILINE)
                   for number in re.findall(r"\b\d+\b", row)}
    for number in sorted(in_sources ^ in_document):
        yield f"{document.relative_to(project)}: ({number}) is only in {'the sources' if number in in_sources else 'the document'}"


def main():
    if len(sys.argv) != 2 or sys.argv[1] in ("-h", "--help"):
        sys.stdout.write(__doc__)
        return 0 if sys.argv[1:] in (["-h"], ["--help"]) else 2
    project = pathlib.Path(sys.argv[1]).resolve()
    wrong = [*counts(project), *orderings(project)]
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
