# SPDX-License-Identifier: GPL-2.0-or-later
"""What the nodes in slurmctld's tables write: starts of jobs, and how long the locks were waited for."""

import threading
import time


class Events(threading.Thread):
    """Reads the file as it grows. Instants are seconds of the clock of the day."""

    def __init__(self, path):
        super().__init__(name="events", daemon=True)
        self._path = path
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._starts = {}  # job: (instant, name); its first start counts
        self._waits = []  # (instant, seconds)
        self.restarts = 0

    def run(self):
        with open(self._path, encoding="utf-8") as lines:
            rest = ""
            while not self._over.wait(0.1):
                rest += lines.read()
                whole, _, rest = rest.rpartition("\n")
                self._take(whole.splitlines())

    def _take(self, lines):
        with self._lock:
            for line in lines:
                kind, instant, *words = line.split()
                if kind == "start":
                    self._take_start(int(instant) / 1e6, words[0], words[1])
                else:
                    self._waits.append((int(instant) / 1e6, int(words[0]) / 1e6))

    def _take_start(self, instant, job, name):
        if job in self._starts:
            self.restarts += 1
        else:
            self._starts[job] = (instant, name)

    def stop(self):
        self._over.set()
        self.join()

    def started(self, prefix):
        """{job: instant} of the jobs with such names."""
        with self._lock:
            return {job: instant for job, (instant, name) in self._starts.items() if name.startswith(prefix)}

    def waits(self, since):
        """Seconds for which the locks were waited for, in order."""
        with self._lock:
            return [seconds for instant, seconds in self._waits if instant >= since]


def quiet_for(events, prefix, since):
    """Seconds since the last start of such a job, or since that instant."""
    return time.time() - max(events.started(prefix).values(), default=since)
