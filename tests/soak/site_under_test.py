# SPDX-License-Identifier: GPL-2.0-or-later
"""The cluster as the soak sees it: commands that may fail while daemons are down, and what was done."""

import re
import subprocess
import time

from cluster import Failure

PARTITION = "main"


class Site:
    def __init__(self, cluster, log):
        self.cluster = cluster
        self.began = time.monotonic()
        self.log = log.open("w", encoding="utf-8")

    def note(self, text):
        """Keeps what was done, so that a finding can be followed."""
        print(f"{time.strftime('%H:%M:%S')} {time.monotonic() - self.began:7.1f} {text}", file=self.log, flush=True)

    def attempt(self, service, *command, user="root", seconds=120):
        """(exit code, output and errors) of a command in a container; it may fail."""
        arguments = self.cluster.command(service, *command, user=user)
        try:
            result = subprocess.run(arguments, capture_output=True, text=True, errors="replace",
                                    stdin=subprocess.DEVNULL, timeout=seconds)
        except subprocess.TimeoutExpired:
            return 124, f"no answer within {seconds} s"
        return result.returncode, (result.stdout + result.stderr).strip()

    def control(self, *command):
        """A command of the operator's on the controller, noted with its answer."""
        code, answer = self.attempt("controller", *command)
        self.note(f"{' '.join(command)} -> {answer.splitlines()[-1] if answer else code}")
        return code == 0

    def daemon(self, service, name, act):
        """act: start, stop or kill."""
        code, answer = self.attempt(service, "/opt/cluster/service", name, act)
        self.note(f"{service}: {name} {act}{' -> ' + answer if code else ''}")

    def queue(self):
        """(id, state, reason) of every job that has not ended; None if slurmctld does not answer."""
        code, text = self.attempt("controller", "squeue", "--noheader", "--array", "--format=%i|%T|%r")
        return None if code else [tuple(line.split("|", 2)) for line in text.splitlines() if line.count("|") >= 2]

    def wait_for_empty_queue(self, seconds, meanwhile):
        end = time.monotonic() + seconds
        queue = None
        while queue != []:
            if time.monotonic() > end:
                raise Failure(f"after {seconds} s jobs have not ended: {queue}; see {self.log.name}")
            meanwhile()
            time.sleep(2)
            queue = self.queue()

    def nodes_away(self):
        """The nodes that are down or drained; None if slurmctld does not answer."""
        code, text = self.attempt("controller", "sinfo", "--noheader", "--Node", "--format=%N %T")
        states = [line.split() for line in text.splitlines()]
        return None if code else [node for node, state in states if re.match("d(own|rain)", state) or "*" in state]

    def nodes(self):
        return self.cluster.nodes
