# SPDX-License-Identifier: GPL-2.0-or-later
"""Results of several configurations side by side, and which differences docs/compatibility.md explains."""

import pathlib
import re

from suite import order

DOCUMENT = pathlib.Path(__file__).resolve().parent.parent.parent / "docs/compatibility.md"
HEADING = "| tests | differ under | why |"
REFERENCE = "backfill"


def kind(result):
    """Whether a test fails or takes too long depends on the machine: it is the same to us."""
    return "fail" if result == "time" else result


def explained(text):
    """(test, configuration) -> why, from the document's tables of differences."""
    reasons = {}
    in_table = False
    for line in text.splitlines():
        in_table = line.startswith("|") and (in_table or line == HEADING)
        if not in_table or line == HEADING or line.startswith("| ---"):
            continue
        tests, configurations, why = (cell.strip() for cell in line.strip("|").split("|", 2))
        for test in re.split(r",\s*", tests):
            for configuration in re.split(r",\s*", configurations):
                reasons[test, configuration] = why
    return reasons


def differences(results):
    """[(test, configurations that differ from the reference)], in order. results: configuration -> test -> result."""
    reference = results.get(REFERENCE, {})
    found = []
    for test in sorted(reference, key=order):
        others = [name for name, tests in results.items() if name != REFERENCE and test in tests
                  and kind(tests[test]["result"]) != kind(reference[test]["result"])]
        if others:
            found.append((test, others))
    return found


def to_repeat(results):
    """Configuration -> tests that fail there and not everywhere, in order: they get a second chance."""
    repeat = {name: [] for name in results}
    for test, others in differences(results):
        for name in [REFERENCE, *others]:
            if kind(results[name][test]["result"]) == "fail":
                repeat[name].append(test)
    return repeat


def counts(results):
    """Lines of a table: what came out under each configuration."""
    lines = [f"{'':10} {'run':>5} {'pass':>5} {'skip':>5} {'fail':>5} {'time':>5}  of those that pass under {REFERENCE}"]
    good = {test for test, found in results.get(REFERENCE, {}).items() if found["result"] == "pass"}
    for name, tests in results.items():
        number = {word: sum(found["result"] == word for found in tests.values())
                  for word in ("pass", "skip", "fail", "time")}
        both = [test for test in tests if test in good]
        same = sum(tests[test]["result"] == "pass" for test in both)
        lines.append(f"{name:10} {len(tests):5} " + " ".join(f"{count:5}" for count in number.values())
                     + f"  {same} of {len(both)}")
    return lines


def side_by_side(results, reasons):
    """(lines of a table of what differs, number of unexplained differences)."""
    lines, unexplained = [], 0
    for test, others in differences(results):
        missing = [name for name in others if (test, name) not in reasons]
        unexplained += len(missing)
        cells = " ".join(f"{tests.get(test, {}).get('result', '-'):>{max(8, len(name))}}"
                         for name, tests in results.items())
        why = f"NOT EXPECTED under {', '.join(missing)}" if missing else reasons[test, others[0]]
        lines.append(f"{test:8} {cells}  {why}")
    if lines:
        lines.insert(0, f"{'':8} " + " ".join(f"{name:>8}" for name in results))
    return lines, unexplained
