# SPDX-License-Identifier: GPL-2.0-or-later
"""Jobs by the thousand, and the coming and going of jobs over a full cluster."""

import random
import threading
import time

from commands import Unanswered, run, submit


def names(prefix, shapes):
    """Each shape under a name of its own, by which its jobs are found again."""
    return {f"{prefix}-{index:02}": shape for index, shape in enumerate(shapes)}


def shares(total, parts):
    """`total` in so many nearly equal parts."""
    return [total // parts + (1 if index < total % parts else 0) for index in range(parts)]


def submit_all(shapes_by_name, total, way="arrays"):
    """Submits so many jobs in equal parts of all shapes: as arrays, as single jobs of alternating shapes, or half
    of them so and half so. Returns the seconds that each call took."""
    arrays, singles = {"arrays": (total, 0), "single": (0, total), "mixed": (total - total // 2, total // 2)}[way]
    seconds = []
    for (name, shape), tasks in zip(shapes_by_name.items(), shares(arrays, len(shapes_by_name))):
        if tasks:
            seconds.append(submit(shape, name, tasks)[2])
    shapes = list(shapes_by_name.items())
    for index in range(singles):
        name, shape = shapes[index % len(shapes)]
        seconds.append(submit(shape, name)[2])
    return seconds


class Rate(threading.Thread):
    """So often a second, in one go."""

    def __init__(self, rate):
        super().__init__(daemon=True)
        self.rate = rate
        self.failures = []
        self._over = threading.Event()

    def act(self):
        """One second's worth."""
        raise NotImplementedError

    def run(self):
        due = time.monotonic()
        while not self._over.is_set():
            try:
                self.act()
            except Unanswered as problem:
                self.failures.append(str(problem))
            due = max(due + 1, time.monotonic())
            self._over.wait(due - time.monotonic())

    def stop(self):
        self._over.set()
        self.join()


class Ends(Rate):
    """Ends running jobs, drawn at random from a fixed seed, but none with such a name."""

    def __init__(self, rate, events, spared=None):
        super().__init__(rate)
        self.ended = set()
        self._spared = spared
        self._events = events
        self._random = random.Random(20261122)

    def act(self):
        spared = self._events.started(self._spared) if self._spared else {}
        running = sorted(self._events.started("").keys() - self.ended - spared.keys())
        chosen = self._random.sample(running, min(self.rate, len(running)))
        if chosen:
            run("scancel", *chosen)
            self.ended.update(chosen)


class Submissions(Rate):
    """Submits jobs of one shape."""

    def __init__(self, rate, shape, name):
        super().__init__(rate)
        self.seconds = []
        self._shape, self._job_name = shape, name

    def act(self):
        for _ in range(self.rate):
            self.seconds.append(submit(self._shape, self._job_name)[2])
