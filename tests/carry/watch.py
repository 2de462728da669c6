#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""watch.py SECONDS FILE: in a node, prints which carried jobs compute there, each so many seconds, while FILE is there.

A line is the time and the jobs' numbers. A process counts if it is in a job's batch cgroup and in a PID namespace
below the node's, but not as that one's PID 1, and is neither stopped nor dead: the program's own processes."""

import os
import pathlib
import re
import sys
import time

JOB = re.compile(r"/job_(\d+)/step_batch")


def computing(status):
    """Whether the text of /proc/PID/status is of a process of a job's program that can run."""
    state = re.search(r"^State:\s*(\S)", status, re.M)
    inner = re.search(r"^NSpid:\s*(.*)$", status, re.M)
    pids = inner.group(1).split() if inner else []
    return len(pids) > 1 and pids[-1] != "1" and bool(state) and state.group(1) not in "TtZX"


def jobs(proc=pathlib.Path("/proc")):
    """The numbers of jobs that compute here."""
    found = set()
    for directory in proc.iterdir():
        if not directory.name.isdigit():
            continue
        try:
            job = JOB.search((directory / "cgroup").read_text())
            if job and int(job.group(1)) not in found and computing((directory / "status").read_text(errors="replace")):
                found.add(int(job.group(1)))
        except OSError:
            # It ended meanwhile.
            continue
    return found


def main():
    pause = float(sys.argv[1])
    while os.path.exists(sys.argv[2]):
        print(f"{time.time():.3f}", *sorted(jobs()), flush=True)
        time.sleep(pause)


if __name__ == "__main__":
    main()
