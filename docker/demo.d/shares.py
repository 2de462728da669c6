# SPDX-License-Identifier: GPL-2.0-or-later
"""Promised against measured CPU: the share that a job's yield gave it on a node, and the share that
the kernel's accounting shows.

dfrsd cuts each job's life on a node into intervals in which its share did not change. What counts
are intervals in which all of the job's tasks were at work and none was paused: a job that is being
launched, parked or ended has a promise that it cannot use.
"""

import json
from collections import defaultdict
from dataclasses import dataclass


@dataclass(frozen=True)
class Difference:
    """Over all its intervals on one node: fractions of the node's CPU capacity."""

    job: str
    node: str
    seconds: float
    promised: float
    measured: float

    @property
    def points(self):
        return 100 * abs(self.measured - self.promised)


def measurements(texts):
    """The intervals in dfrsd's measurement files."""
    return [json.loads(line) for text in texts for line in text.splitlines() if line.strip()]


def differences(intervals, windows, shortest=1.0):
    """One per job and node that has at least `shortest` seconds of countable intervals.

    `windows`: Slurm's job id -> (job's name, [(begin, end) in which all its tasks worked]).
    """
    sums = defaultdict(lambda: [0.0, 0.0, 0.0])
    for interval in intervals:
        name, times = windows.get(interval["job"], (None, []))
        if not countable(interval, times):
            continue
        seconds = interval["end"] - interval["start"]
        total = sums[name, interval["node"]]
        total[0] += seconds
        total[1] += seconds * interval["share"]
        total[2] += interval["cpu_seconds"] / interval["capacity_cores"]
    return [
        Difference(name, node, seconds, promised / seconds, measured / seconds)
        for (name, node), (seconds, promised, measured) in sorted(sums.items())
        if seconds >= shortest
    ]


def countable(interval, times):
    if interval["share"] is None or interval["frozen"] or interval["end"] <= interval["start"]:
        return False
    return any(begin <= interval["start"] and interval["end"] <= end for begin, end in times)
