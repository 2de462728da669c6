# SPDX-License-Identifier: GPL-2.0-or-later
"""Memory and open files of the daemons, from time to time: both are to stay bounded."""

import time

EVERY_SECONDS = 60
# dfrsd has a few connections at a time; slurmctld has some for each request under way.
MOST_FILES = {"dfrsd": 64, "slurmctld": 256}
# Twice what it was after its first minute, and this much more.
MEGABYTES_MORE = 64
COMMAND = """
for process in $(pgrep -x "$0"); do
	awk '/^VmRSS/ { print $2 }' /proc/"$process"/status
	ls /proc/"$process"/fd | wc -l
	break
done
"""


class Daemons:
    def __init__(self, site):
        self.site = site
        self.next = time.monotonic() + 20
        self.seen = {}

    def step(self):
        if time.monotonic() >= self.next:
            self.next = time.monotonic() + EVERY_SECONDS
            self.look()

    def look(self):
        for service, daemon in (("controller", "slurmctld"), *((node, "dfrsd") for node in self.site.nodes())):
            code, text = self.site.attempt(service, "sh", "-c", COMMAND, daemon)
            words = text.split()
            if code == 0 and len(words) == 2 and all(word.isdecimal() for word in words):
                self.seen.setdefault((service, daemon), []).append((int(words[0]) / 1024, int(words[1])))

    def findings(self):
        """(what must hold, evidence or nothing)"""
        for (service, daemon), seen in sorted(self.seen.items()):
            first, last = seen[0][0], seen[-1][0]
            files = max(count for _, count in seen)
            yield (f"{daemon} on {service} keeps its memory bounded",
                   f"{first:.0f} MB, then {last:.0f} MB" if last > 2 * first + MEGABYTES_MORE else "")
            yield (f"{daemon} on {service} keeps its open files bounded",
                   f"{files} at once" if files > MOST_FILES[daemon] else "")

    def table(self):
        for (service, daemon), seen in sorted(self.seen.items()):
            memory, files = [entry[0] for entry in seen], [entry[1] for entry in seen]
            yield (f"{service:12} {daemon:10} memory {memory[0]:6.1f} to {memory[-1]:6.1f} MB, at most "
                   f"{max(memory):6.1f}; files {files[0]} to {files[-1]}, at most {max(files)}")
