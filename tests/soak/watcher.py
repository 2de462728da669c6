# SPDX-License-Identifier: GPL-2.0-or-later
"""What looks at the cluster from time to time."""

import time

# The cluster has begun to work by then.
FIRST_SECONDS = 20


class Watcher:
    """`look` is called every so many seconds."""

    def __init__(self, site, every):
        self.site, self.every = site, every
        self.next = time.monotonic() + FIRST_SECONDS

    def step(self):
        if time.monotonic() >= self.next:
            self.next = time.monotonic() + self.every
            self.look()
