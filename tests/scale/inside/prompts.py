# SPDX-License-Identifier: GPL-2.0-or-later
"""Users at terminals: how long each waits from the call of salloc to its allocation."""

import re
import subprocess
import threading
import time

from commands import Unanswered, run

# Seconds after which a user gives up.
TIMEOUT = 60
NAME = "prompt"


def allocate(options):
    """Seconds from the call of salloc until it reports the allocation, which is released at once; None: the user gave
    up. That the nodes are ready, for which salloc then waits, is not part of it: there are none."""
    command = ["salloc", "--no-shell", f"--job-name={NAME}", "--time=30", "--chdir=/", *options]
    called, waited, line = time.monotonic(), None, ""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        timer = threading.Timer(TIMEOUT, process.terminate)
        timer.start()
        for line in process.stderr:
            if granted := re.search(r"Granted job allocation (\d+)", line):
                waited = time.monotonic() - called
                run("scancel", granted[1])
                break
        process.communicate()
        timer.cancel()
    if waited is None and time.monotonic() - called < TIMEOUT:
        raise Unanswered(f"salloc: exit code {process.returncode}: {line.strip() or 'no message'}")
    return waited


class Prompts(threading.Thread):
    """Calls salloc so many times a second, whether or not earlier calls were answered."""

    def __init__(self, rate, options):
        """options: of salloc."""
        super().__init__(daemon=True)
        self.seconds = []  # of each call that was answered
        self.given_up = 0
        self.failures = []
        self._rate, self._options = rate, options
        self._users = []
        self._over = threading.Event()

    def _call(self):
        try:
            waited = allocate(self._options)
        except Unanswered as problem:
            self.failures.append(str(problem))
            return
        if waited is None:
            self.given_up += 1
        else:
            self.seconds.append(waited)

    def run(self):
        due = time.monotonic()
        while not self._over.is_set():
            user = threading.Thread(target=self._call, daemon=True)
            user.start()
            self._users.append(user)
            due += 1 / self._rate
            self._over.wait(due - time.monotonic())

    def stop(self):
        """Waits for the calls that were made."""
        self._over.set()
        self.join()
        for user in self._users:
            user.join()

    def waits(self):
        """Seconds of all calls; those who gave up count with the timeout, which is less than they would wait."""
        return self.seconds + [TIMEOUT] * self.given_up
