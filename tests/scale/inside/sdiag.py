# SPDX-License-Identifier: GPL-2.0-or-later
"""The figures of sdiag that are about scheduling. DFRS counts its passes where backfill counts its
cycles."""

import re
import threading

from commands import Unanswered, run


def read():
    """{words before the colon: number} of the part about the backfilling cycles."""
    part = run("sdiag").split("Backfilling stats", 1)[1].split("Remote Procedure Call", 1)[0]
    return {words.strip().lower(): int(number)
            for words, number in re.findall(r"^\s*([A-Za-z ()]+):\s*(\d+)", part, re.MULTILINE)}


class Cycles(threading.Thread):
    """Looks once a second which cycle was the last, and how long it took."""

    def __init__(self):
        super().__init__(name="cycles", daemon=True)
        self._over = threading.Event()
        self.seconds = []  # of the cycles that were seen
        self.count = 0
        self.longest = 0.0
        self.depth = 0  # the largest that was seen
        self.failures = []

    def run(self):
        while not self._over.wait(1):
            try:
                self._take(read())
            except (Unanswered, IndexError) as problem:
                self.failures.append(str(problem))

    def _take(self, figures):
        count = figures.get("total cycles", 0)
        if count != self.count:
            self.seconds.append(figures.get("last cycle", 0) / 1e6)
        self.count = count
        self.longest = figures.get("max cycle", 0) / 1e6
        self.depth = max(self.depth, figures.get("last depth cycle", 0))

    def stop(self):
        self._over.set()
        self.join()
