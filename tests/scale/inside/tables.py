# SPDX-License-Identifier: GPL-2.0-or-later
"""What slurmctld says of all jobs and nodes: slow, so queried at the ends of phases only."""

import re
from collections import Counter

from commands import run


def jobs():
    """How many jobs, array tasks one by one, by (name, state)."""
    lines = run("squeue", "--noheader", "--array", "--states=all", "--format=%j %T").splitlines()
    return Counter(tuple(line.split()) for line in lines)


def alive(counts):
    """Jobs that wait or run."""
    return sum(number for (_, state), number in counts.items() if state in ("PENDING", "RUNNING", "CONFIGURING"))


def in_state(counts, state):
    return sum(number for (_, found), number in counts.items() if found == state)


def cpus_requested():
    """By running jobs together."""
    return sum(map(int, run("squeue", "--noheader", "--states=running", "--format=%C").split()))


def rooms(count_cpus):
    """(CPUs, megabytes) that are free on each node; where CPUs are shared, all of them are."""
    found = []
    for line in run("scontrol", "--oneliner", "show", "nodes").splitlines():
        value = {key: int(number) for key, number in re.findall(r"\b(CPUAlloc|CPUTot|RealMemory|AllocMem)=(\d+)", line)}
        cpus = value["CPUTot"] - (value["CPUAlloc"] if count_cpus else 0)
        found.append((cpus, value["RealMemory"] - value["AllocMem"]))
    return found


def with_room(counts, shapes_by_name, free):
    """How many jobs wait although there is room for one of their shape."""
    waiting = {name: number for (name, state), number in counts.items() if state == "PENDING"}
    return sum(number for name, number in waiting.items()
               if name in shapes_by_name and shapes_by_name[name].fits(free))
