# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether a job ever ran twice, from what watch.py saw on all nodes."""

import collections
import contextlib
import os
import subprocess
import threading
import time

PAUSE = 0.4
# A carry takes longer than this; one that is seen here, there and here again within it runs twice.
TOGETHER = 1.0


def doubled(sightings):
    """Of (time, node) of one job: the first (time, node, other) at which it ran twice, or None."""
    ordered = sorted(sightings)
    last = {}
    for when, node in ordered:
        for other, seen in last.items():
            # This node saw it before the other did, and sees it again.
            if other != node and node in last and last[node] < seen and when - last[node] < TOGETHER:
                return when, node, other
        last[node] = when
    return None


class Watch:
    """watch.py on all nodes, as long as the context lasts."""

    def __init__(self, cluster, script):
        # A program in a container outlives the docker exec that began it: this file's end is theirs.
        self.mark = f"{script}.{os.getpid()}"
        self.cluster = cluster
        cluster.run("controller", "touch", self.mark)
        self.sightings = collections.defaultdict(list)
        self.lock = threading.Lock()
        self.programs = []
        for node in cluster.nodes:
            words = cluster.command(node, "nice", "python3", "-B", script, str(PAUSE), self.mark)
            self.programs.append((node, subprocess.Popen(words, stdout=subprocess.PIPE, text=True)))
        self.threads = [threading.Thread(target=self._read, args=pair, daemon=True) for pair in self.programs]

    def _read(self, node, program):
        for line in program.stdout:
            when, *numbers = line.split()
            with self.lock:
                for number in numbers:
                    self.sightings[int(number)].append((float(when), node))

    def doubled(self, number):
        with self.lock:
            return doubled(self.sightings[number])

    def quiet(self, number):
        """Seconds since the job was last seen computing; infinite if never."""
        with self.lock:
            seen = self.sightings[number]
            return time.time() - seen[-1][0] if seen else float("inf")

    def seen(self, number):
        """How often it was seen: none means that the watch does not work."""
        with self.lock:
            return len(self.sightings[number])

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.cluster.run("controller", "rm", "-f", self.mark)
        for _, program in self.programs:
            with contextlib.suppress(subprocess.TimeoutExpired):
                program.wait(5)
