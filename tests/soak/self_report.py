# SPDX-License-Identifier: GPL-2.0-or-later
"""DFRS's status file, from time to time: that measured needs count, and how long passes take."""

import json

from watcher import Watcher

EVERY_SECONDS = 10
FILE = "/var/lib/slurm/slurmctld/dfrs_status.json"


class SelfReport(Watcher):
    def __init__(self, site, needs):
        super().__init__(site, EVERY_SECONDS)
        self.needs = needs
        self.seen = []

    def look(self):
        code, text = self.site.attempt("controller", "cat", FILE)
        status = json.loads(text) if code == 0 else {}
        if status.get("running") and status["mode"] == "full":
            self.seen.append(status)

    def findings(self):
        """(what must hold, evidence or nothing)"""
        if self.needs == "measured":
            most, _ = self.most_lowered()
            yield "jobs that use little count with less than they requested", "" if most else "none did"

    def most_lowered(self):
        """(how many jobs at once counted with less than they requested, of how many)"""
        return max(((status["job_metrics"]["lowered"], status["job_metrics"]["sharing"]) for status in self.seen), default=(0, 0))

    def table(self):
        if not self.seen:
            return
        most = {name: max(status["jobs"][name] for status in self.seen) for name in ("waiting", "running", "parked")}
        yield "jobs at once, at most: " + ", ".join(f"{count} {name}" for name, count in most.items())
        yield "count with less than they requested: at most {} of {}".format(*self.most_lowered())
        for name in ("wall", "cpu"):
            spreads = [status["passes"][name] for status in self.seen]
            usual = sorted(spread["lately"]["p50"] for spread in spreads)[len(spreads) // 2]
            yield (f"a pass, {name}: {usual / 1000:.1f} ms, the longest {max(s['max'] for s in spreads) / 1000:.0f} ms; "
                   f"{max(spread['lately']['count'] for spread in spreads)} passes a minute at most")
        late = max(status["messages"]["late"] for status in self.seen)
        yield f"messages to nodes late at once: {late} at most"
