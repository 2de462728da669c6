# SPDX-License-Identifier: GPL-2.0-or-later
"""Memory and open files of the daemons, from time to time: both are to stay bounded."""

from report import few
from watcher import Watcher

EVERY_SECONDS = 60
# dfrsd has a few connections at a time; slurmctld has some for each request under way.
MAX_FILES = {"dfrsd": 64, "slurmctld": 256}
# Twice what it was after its first minute, and this much more.
MEGABYTES_MORE = 64
COMMAND = """
for process in $(pgrep -x "$0"); do
	awk '/^VmRSS/ { print $2 }' /proc/"$process"/status
	ls /proc/"$process"/fd | wc -l
	break
done
"""


class Daemons(Watcher):
    def __init__(self, site):
        super().__init__(site, EVERY_SECONDS)
        self.seen = {}

    def look(self):
        for service, daemon in (("controller", "slurmctld"), *((node, "dfrsd") for node in self.site.nodes())):
            code, text = self.site.attempt(service, "sh", "-c", COMMAND, daemon)
            words = text.split()
            if code == 0 and len(words) == 2 and all(word.isdecimal() for word in words):
                self.seen.setdefault((service, daemon), []).append((int(words[0]) / 1024, int(words[1])))

    def findings(self):
        """(what must hold, evidence or nothing)"""
        for daemon, most_files in MAX_FILES.items():
            grown = ((service, seen[0][0], seen[-1][0]) for service, seen in self.of(daemon))
            yield f"{daemon} keeps its memory bounded", few(
                f"{service}: {first:.0f} MB, then {last:.0f} MB" for service, first, last in grown
                if last > 2 * first + MEGABYTES_MORE)
            opened = ((service, max(files for _, files in seen)) for service, seen in self.of(daemon))
            yield f"{daemon} keeps its open files bounded", few(
                f"{service}: {files} at once" for service, files in opened if files > most_files)

    def of(self, daemon):
        """(service, what was seen there of this daemon)"""
        return [(service, seen) for (service, name), seen in sorted(self.seen.items()) if name == daemon]

    def table(self):
        for daemon in MAX_FILES:
            seen = [entry for _, entries in self.of(daemon) for entry in entries]
            if seen:
                memory, files = zip(*seen)
                yield (f"{daemon:10} on {len(self.of(daemon))} hosts: memory {min(memory):.1f} to {max(memory):.1f} MB, "
                       f"{min(files)} to {max(files)} open files")
