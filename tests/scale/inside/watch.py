# SPDX-License-Identifier: GPL-2.0-or-later
"""What is measured during any phase."""

import time

import sdiag
import status
from probes import Sinfo

# Threads of ours in slurmctld, which are not to be counted.
OURS = ("scale_nodes", "scale_locks")
# A thread that used less than this is not worth a line.
MIN_SECONDS = 0.05


class Watch:
    """From its making to `stop`: sinfo, cycles, locks, processor time, memory, and what the plugin says of itself."""

    def __init__(self, phase, controller, events, sinfo_interval=0.25):
        self._phase, self._controller, self._events = phase, controller, events
        self.begin = time.time()
        self._status = status.read(controller.status_path())
        self._cpu, self._threads = controller.cpu_seconds(), controller.thread_seconds()
        self.sinfo, self.cycles = Sinfo(sinfo_interval), sdiag.Cycles()
        self.sinfo.start()
        self.cycles.start()

    def stop(self):
        """Ends it and writes the figures down."""
        elapsed = time.time() - self.begin
        cpu, threads = self._controller.cpu_seconds(), self._controller.thread_seconds()
        self.sinfo.stop()
        self.cycles.stop()
        self._phase.figure("phase", elapsed, "s")
        self._phase.spread("sinfo", self.sinfo.seconds)
        self._phase.spread("wait for the locks", self._events.waits(self.begin))
        self._cpu_figures(elapsed, cpu - self._cpu, threads)
        self._cycle_figures()
        self._plugin_figures()
        self._phase.figure("slurmctld resident", self._controller.resident_megabytes(), "MB")
        failures = self.sinfo.failures + self.cycles.failures
        self._phase.check("sinfo and sdiag are always answered", not failures, failures[:3])

    def _cpu_figures(self, elapsed, total, threads):
        used = {name: seconds - self._threads.get(name, 0) for name, seconds in threads.items()}
        total -= sum(used.pop(name, 0) for name in OURS)
        self._phase.figure("CPU of slurmctld", total, "s")
        self._phase.figure("CPU of slurmctld, share of a core", 100 * total / elapsed, "%")
        scheduling = sum(seconds for name, seconds in used.items() if name.startswith(("dfrs", "bckfl", "sched")))
        self._phase.figure("CPU of scheduling threads", scheduling, "s")
        self._phase.figure("CPU of scheduling threads, share of a core", 100 * scheduling / elapsed, "%")
        for name, seconds in sorted(used.items()):
            if seconds >= MIN_SECONDS:
                self._phase.figure(f"CPU of thread {name}", seconds, "s")

    def _plugin_figures(self):
        after = status.read(self._controller.status_path())
        for measure, spread in (status.between(self._status, after) if after else {}).items():
            for name, share in (("p50", 0.5), ("p99", 0.99), ("max", 1)):
                self._phase.figure(f"{measure} {name}", spread.percentile(share), "s")
            self._phase.figure(f"{measure} count", spread.count, "")

    def _cycle_figures(self):
        self._phase.figure("cycles", self.cycles.count, "")
        self._phase.spread("cycle, as sampled", self.cycles.seconds)
        self._phase.figure("cycle, longest since the start", self.cycles.longest, "s")
        self._phase.figure("depth of a cycle, largest sampled", self.cycles.depth, "")
