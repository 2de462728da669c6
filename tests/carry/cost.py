#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""cost.py [--project NAME] [--megabytes N] [--rounds N]

Carries a job that holds so much memory from n1 to n2, and says how long it stood still, beside how long the same amount
takes to be written to the directory of images (with fsync) by n1 and read by n2 just before. Needs docker/up --carry."""

import argparse
import os
import re
import sys
import time

import cluster as clusters

# Its lines are the time, 20 times a second.
JOB = """#!/bin/bash
exec python3 -u - <<'END'
import os, time
held = b"".join(os.urandom(1 << 20) for _ in range({megabytes}))
while True:
    print(f"{{time.time():.3f}}")
    time.sleep(0.05)
END
"""
SUBMIT = 'cd /home/alice && sbatch --parsable --mem="$1" -w n1 --output=%j.out --open-mode=append <<<"$0"'


def seconds(cluster, node, script):
    begin = time.monotonic()
    cluster.run(node, "bash", "-c", script)
    return time.monotonic() - begin


def lines(cluster, job):
    text = cluster.attempt("controller", "cat", f"/home/alice/{job}.out").stdout
    return [float(line) for line in text.splitlines() if re.fullmatch(r"\d+\.\d{3}", line)]


def measure(cluster, megabytes):
    """One carry, in a line."""
    script = JOB.format(megabytes=megabytes)
    job = int(cluster.run("controller", "bash", "-c", SUBMIT, script, str(megabytes + 150), user="alice"))
    while not lines(cluster, job):
        time.sleep(0.5)
    probe = f"{cluster.images}/probe"
    cluster.run("n1", "dd", "if=/dev/urandom", "of=/tmp/probe", "bs=1M", f"count={megabytes}")
    write = seconds(cluster, "n1", f"dd if=/tmp/probe of={probe} bs=1M conv=fsync")
    read = seconds(cluster, "n2", f"cat {probe} >/dev/null")
    cluster.run("n1", "rm", probe, "/tmp/probe")
    carried = cluster.carry(job, "n2")
    time.sleep(2)
    seen = lines(cluster, job)
    still = max(after - before for before, after in zip(seen, seen[1:]))
    cluster.run("controller", "scancel", str(job))
    return f"{megabytes} MB: written in {write:.1f} s, read in {read:.1f} s; dumped in {carried.dump:.1f} s, restored in " \
           f"{carried.restore:.1f} s, stood still for {still:.1f} s, {still / (write + read):.1f} times as long"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--project", default=os.environ.get("DFRS_PROJECT", "dfrs-carry13"))
    parser.add_argument("--megabytes", type=int, default=800)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    cluster = clusters.Cluster(arguments.project)
    for _ in range(arguments.rounds):
        print(measure(cluster, arguments.megabytes), flush=True)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (ValueError, RuntimeError, clusters.CarryError) as error:
        sys.exit(f"cost.py: {error}")
