# SPDX-License-Identifier: GPL-2.0-or-later
"""What users would notice: how long sinfo and sbatch take, and when a small job starts."""

import threading

import shapes
from commands import Unanswered, submit, timed


class Probe(threading.Thread):
    """Does one thing again and again, and keeps how long it took."""

    def __init__(self, interval):
        super().__init__(daemon=True)
        self._interval = interval
        self._over = threading.Event()
        self.seconds = []
        self.failures = []

    def act(self):
        """Seconds that it took."""
        raise NotImplementedError

    def run(self):
        while not self._over.is_set():
            try:
                self.seconds.append(self.act())
            except Unanswered as problem:
                self.failures.append(str(problem))
            self._over.wait(self._interval)

    def stop(self):
        self._over.set()
        self.join()


class Sinfo(Probe):
    def act(self):
        return timed("sinfo", "--noheader", "--format=%D %T")[1]


class SmallJobs(Probe):
    """Submits a small job; `called` has the instants of the calls by job."""

    def __init__(self, interval, name="small"):
        super().__init__(interval)
        self.called = {}
        self._job_name = name

    def act(self):
        job, called, seconds = submit(shapes.SMALL, self._job_name)
        self.called[job] = called
        return seconds


def latencies(called, started, now):
    """Seconds from each call to the job's start, and how many have not started: those count with how
    long they wait by now."""
    waiting = [job for job in called if job not in started]
    return [max(started.get(job, now) - instant, 0) for job, instant in called.items()], len(waiting)
