# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures on their way out: one JSON object a line on standard output."""

import json


def percentile(values, share):
    """The smallest value that at least this share of the values do not exceed; 0 without values."""
    if not values:
        return 0.0
    ordered = sorted(values)
    index = max(-(-len(ordered) * round(share * 1000) // 1000) - 1, 0)
    return ordered[index]


def emit(**record):
    print(json.dumps(record), flush=True)


class Phase:
    """Figures of one phase."""

    def __init__(self, name):
        self.name = name

    def figure(self, measure, value, unit):
        emit(phase=self.name, measure=measure, value=round(float(value), 6), unit=unit)

    def spread(self, measure, values, unit="s"):
        """The usual percentiles, and how many there are."""
        for share in (50, 95, 99):
            self.figure(f"{measure} p{share}", percentile(values, share / 100), unit)
        self.figure(f"{measure} max", max(values, default=0), unit)
        self.figure(f"{measure} count", len(values), "")

    def waits(self, measure, values):
        """What users feel: also the rare ones."""
        for share in (50, 90, 99, 99.9):
            self.figure(f"{measure} p{share}", percentile(values, share / 100), "s")
        self.figure(f"{measure} longest", max(values, default=0), "s")

    def check(self, name, passed, evidence):
        """Something that must hold."""
        emit(phase=self.name, check=name, passed=bool(passed), evidence=evidence)

    def timeline(self, instants, begin):
        """How many had started after so many seconds."""
        emit(phase=self.name, timeline=sorted(round(instant - begin, 3) for instant in instants))
