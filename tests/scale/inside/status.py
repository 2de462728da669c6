# SPDX-License-Identifier: GPL-2.0-or-later
"""The plugin's own figures, from its status file (docs/observing.md): what lies between two of them."""

import json

LOCKS = {"read_holds": "reading, held", "read_waits": "reading, waited for",
         "write_holds": "writing, held", "write_waits": "writing, waited for"}


def read(path):
    """The file, or None: there is none."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None


class Spread:
    """How lengths of time are spread that were counted between two states of one spread; in seconds, each at most an
    eighth too large."""

    def __init__(self, before, after):
        known = dict(before["buckets"]) if before else {}
        self._buckets = [(most, number - known.get(most, 0)) for most, number in after["buckets"]]
        self._longest = after["max"]
        self.count = sum(number for _, number in self._buckets)

    def percentile(self, share):
        """What such a share took at most; 0 if there are none."""
        passed = 0
        for most, number in self._buckets:
            passed += number
            if number and passed >= share * self.count:
                return min(most, self._longest) / 1e6
        return 0.0


def spreads(status):
    """{measure: spread} of a file."""
    found = {"pass": status["passes"]["wall"], "pass, CPU": status["passes"]["cpu"]}
    found.update((f"pass, {name}", spread) for name, spread in status["passes"]["parts"].items())
    found.update((f"lock for {words}", status["locks"][name]) for name, words in LOCKS.items())
    return found


def between(before, after):
    """{measure: Spread}; `before` may be None. A plugin that was restarted in between counts from its start."""
    if before and before["started"] != after["started"]:
        before = None
    known = spreads(before) if before else {}
    return {measure: Spread(known.get(measure), spread) for measure, spread in spreads(after).items()}
