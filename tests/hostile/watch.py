# SPDX-License-Identifier: GPL-2.0-or-later
"""Watches a hostile job and honest ones on a node of the mini-Slurm, as root there, and says what is not as it should be.

usage: watch.py SECONDS PARKED|RUNNING HOSTILE-JOB REPORT...

Prints what it measured; exit status 1: an honest job (victim.py, by its report) has not gone on, or the hostile one, which is
parked, has more memory or CPU than a parked one may have.
"""

import glob
import os
import sys
import time

# As parking.rs says: bytes that may stay in RAM, and cores.
KEPT = 32 << 20
PARKED_CORES = 0.05
LONGEST_PAUSE = 30.0


def read(path):
    with open(path, encoding="ascii") as file:
        return file.read().strip()


class Group:
    """The cgroups of a job, of v1 or v2."""

    def __init__(self, job):
        self.memory = first(f"memory/slurm*/uid_*/job_{job}/memory.usage_in_bytes", f"system.slice/*scope/job_{job}/memory.current")
        self.cpu = first(f"cpuacct/slurm*/uid_*/job_{job}/cpuacct.usage", f"system.slice/*scope/job_{job}/cpu.stat")

    def memory_used(self):
        return int(read(self.memory))

    def cpu_used(self):
        text = read(self.cpu)
        if self.cpu.endswith("cpu.stat"):
            return int(text.split("usage_usec ")[1].split()[0]) / 1e6
        return int(text) / 1e9


def first(*patterns):
    for pattern in patterns:
        found = glob.glob(f"/sys/fs/cgroup/{pattern}")
        if found:
            return found[0]
    sys.exit(f"watch.py: nothing is like {patterns}")


def progress(report):
    rounds, longest = read(report).split()
    return int(rounds), float(longest)


def main():
    seconds, is_parked = float(sys.argv[1]), sys.argv[2] == "PARKED"
    hostile, reports = Group(sys.argv[3]), sys.argv[4:]
    before = [progress(report)[0] for report in reports]
    used, begin, most = hostile.cpu_used(), time.monotonic(), 0
    while time.monotonic() - begin < seconds:
        most = max(most, hostile.memory_used())
        time.sleep(0.05)
    cores = (hostile.cpu_used() - used) / (time.monotonic() - begin)
    print(f"the hostile job: {most / 2**20:.1f} MiB in RAM at most, {cores:.3f} cores")
    failed = is_parked and (most > KEPT or cores > 1.5 * PARKED_CORES)
    for report, rounds in zip(reports, before):
        now, longest = progress(report)
        print(f"{os.path.basename(report)}: {now - rounds} rounds, longest pause {longest:.1f} s")
        failed |= now <= rounds or longest > LONGEST_PAUSE
    return 1 if failed else 0


sys.exit(main())
