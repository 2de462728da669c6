# SPDX-License-Identifier: GPL-2.0-or-later
"""Jobs that are carried: how often it was done, and that each went on where it was."""

import re

from report import few
from submissions import DIRECTORY
from watcher import Watcher

EVERY_SECONDS = 10
IMAGES = "/var/lib/dfrs/images"
LOG = "/var/log/dfrsd.log"
# What users and operators may do to a job without having it begin again.
HARMLESS = {"hold", "suspend", "change_limit", "rename", "cancel"}
# A slurmctld that was killed has forgotten starts of its last seconds, and starts such a job again when its nodes
# have answered.
FORGOTTEN_SECONDS = 90


class Carries(Watcher):
    def __init__(self, site):
        super().__init__(site, EVERY_SECONDS)
        # Largest number of images at once.
        self.waiting = 0

    def look(self):
        self.waiting = max(self.waiting, len(self.images()))

    def images(self):
        # Those that a job is still to go on from.
        script = 'cd "$0" && for job in [0-9]*; do ! [ -d "$job" ] || [ -e "$job/restored" ] || echo "$job"; done'
        code, listed = self.site.attempt("n1", "sh", "-c", script, IMAGES)
        return listed.split() if code == 0 else [f"{IMAGES}: {listed}"]

    def count(self, text):
        """Lines of dfrsd's logs with this text."""
        return sum(int(self.site.attempt(node, "grep", "-c", text, LOG)[1] or 0) for node in self.site.nodes())

    def findings(self):
        """(what must hold, evidence or nothing)"""
        yield "jobs were carried", "" if self.count("its image is complete") else "none was"
        yield "no image is left", few(self.images())

    def table(self):
        yield f"{self.count('its image is complete')} images were made, {self.waiting} waited at once at most"


def began_again(jobs, files, kills):
    """Of jobs that were carried: those of which anything was done twice, or lost."""
    for job in jobs:
        if job.mobility != "carry" or not job.acts <= HARMLESS:
            continue
        for name in job.names():
            starts, fault = progress(files.get(f"{name}.task0", ""))
            if any(0 <= start - kill < FORGOTTEN_SECONDS for start in starts[1:] for kill in kills):
                continue
            if len(starts) > 1:
                yield f"{name}, {job.identity}: began {len(starts)} times, under {DIRECTORY}"
            elif fault:
                yield f"{name}, {job.identity}: {fault}"


def progress(text):
    """When a task began, each time, and what is wrong with the CPU seconds that it says it has done: two copies that
    run at once write lines in between each other's."""
    starts, done = [], 0.0
    for line in text.splitlines():
        fields = re.match(r"(\S+) (\w+) .*?done=([\d.]+)", line)
        if not fields:
            return starts, f"wrote '{line}'"
        if fields[2] == "start":
            starts.append(float(fields[1]))
        elif float(fields[3]) < done:
            return starts, f"went back from {done} to {fields[3]} CPU seconds"
        done = float(fields[3])
    return starts, ""
