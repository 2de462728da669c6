# SPDX-License-Identifier: GPL-2.0-or-later
"""device_holders.py FILE: once a second until the file is there, whether a device of a node has two holders, and whether
as many of a node's devices are in use as its jobs hold; both by scontrol, on the mini-Slurm's controller. Prints what is wrong, then how many seconds were compared and how many devices were in use at most. Fails
if anything is wrong. A second in which slurmctld is down, or in which jobs start or end, is not compared.
"""

import collections
import os
import re
import subprocess
import sys
import time

# One that ends is no holder any more by Slurm's count, but its processes may be.
HOLDS = ("RUNNING", "SUSPENDED", "COMPLETING")
IN_COUNT = ("RUNNING", "SUSPENDED")
# gpu:2, gpu:a:2, gpu:a:2(IDX:0-1): Slurm shows which ones only where gres.conf has their types or cores.
COUNT = re.compile(r"(?:^|,)([a-z]\w*)(?::(?:\(null\)|[^:(,]+))?:(\d+)(?=[(,]|$)")
DEVICES = re.compile(r"(\w+)(?::(?:\(null\)|[^:(,]+))?:\d+\(IDX:([\d,-]+)\)")


def numbers(text):
    """0-2,5 -> 0, 1, 2, 5."""
    for part in text.split(","):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def hosts(text):
    """n[1-2,4] or n1 -> names."""
    found = re.fullmatch(r"(\D+)\[([\d,-]+)\]", text)
    return [f"{found[1]}{number}" for number in numbers(found[2])] if found else text.split(",")


def devices(text):
    """gpu:a:2(IDX:0-1) -> (gpu, 0), (gpu, 1)."""
    return [(name, number) for name, indices in DEVICES.findall(text) for number in numbers(indices)]


def holders(jobs, states):
    """(node, kind, number) -> ids of the jobs that hold it. jobs: what 'scontrol show job --details' prints."""
    found = {}
    for record in jobs.split("\n\n"):
        state = re.search(r"\bJobState=(\w+)", record)
        if not state or state[1] not in states:
            continue
        job = re.search(r"\bJobId=(\d+)", record)[1]
        for nodes, held in re.findall(r"^ *Nodes=(\S+) .*\bGRES=(\S+)", record, re.MULTILINE):
            for node in hosts(nodes):
                for device in devices(held):
                    found.setdefault((node, *device), []).append(job)
    return found


def used(nodes):
    """(node, kind) -> how many devices are in use. nodes: what 'scontrol show node --details' prints."""
    found = {}
    for record in nodes.split("\n\n"):
        name, counts = re.search(r"\bNodeName=(\S+)", record), re.search(r"\bGresUsed=(\S+)", record)
        for kind, count in COUNT.findall(counts[1]) if name and counts else []:
            found[name[1], kind] = found.get((name[1], kind), 0) + int(count)
    return found


def wrong(jobs, nodes):
    """Lines about what must not be."""
    lines = [f"{node} {kind} {number} has two holders: jobs {' and '.join(ids)}"
             for (node, kind, number), ids in sorted(holders(jobs, HOLDS).items()) if len(ids) > 1]
    held = collections.Counter((node, kind) for node, kind, _ in holders(jobs, IN_COUNT))
    counted = used(nodes)
    lines += [f"{node} {kind}: {counted.get((node, kind), 0)} in use, {held[node, kind]} held by jobs"
              for node, kind in sorted({*counted, *held}) if counted.get((node, kind), 0) != held[node, kind]]
    return lines


def shown(what):
    done = subprocess.run(["scontrol", "show", what, "--details"], capture_output=True, text=True, timeout=5)
    return done.stdout if done.returncode == 0 else None


def sample():
    """(jobs, nodes) of one instant, or None: jobs are the same before and after the nodes."""
    try:
        before, nodes, after = shown("job"), shown("node"), shown("job")
    except subprocess.TimeoutExpired:
        return None
    if None in (before, nodes, after) or holders(before, IN_COUNT) != holders(after, IN_COUNT):
        return None
    return after, nodes


def main(file):
    compared = most = failures = 0
    while not os.path.exists(file):
        begin = time.monotonic()
        found = sample()
        if found:
            compared += 1
            most = max(most, sum(used(found[1]).values()))
            for line in wrong(*found):
                failures += 1
                print(f"{time.strftime('%T')} {line}", flush=True)
        time.sleep(max(0, begin + 1 - time.monotonic()))
    print(f"compared {compared} seconds, {most} devices in use at most")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
