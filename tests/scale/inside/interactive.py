# SPDX-License-Identifier: GPL-2.0-or-later
"""A phase: users at terminals call salloc on a cluster whose CPUs are all in use."""

import time

import load
import phases
import shapes
import tables
from measures import Phase, percentile
from prompts import NAME, TIMEOUT, Prompts
from watch import Watch

# Batch jobs use all CPUs of a node and half of its memory; half as many wait, or share the CPUs.
JOBS_A_NODE = 4
MEMORY = 0.5
# Of a hundred users of DFRS at most one waits longer.
MAX_P99 = 1.0
# Of salloc, if interactive jobs come first in the queue, as with a QOS of high priority.
FIRST = ("--nice=-1000000",)


def interactive(controller, events, options):
    """Fills the cluster; then batch jobs end and others are submitted at a rate while users call salloc at another."""
    queued = JOBS_A_NODE * options["nodes"] // 2
    jobs = phases.full(controller, events, options, JOBS_A_NODE, queued, MEMORY)
    phase = Phase("interactive")
    ends = load.Ends(options["rate"], events, spared=NAME)
    submissions = load.Submissions(options["rate"], shapes.slot(JOBS_A_NODE, MEMORY), "new")
    users = Prompts(options["prompts"], [*shapes.SMALL.options(), *(FIRST if options["first"] else ())])
    watch = Watch(phase, controller, events, sinfo_interval=1)
    for thread in (ends, submissions, users):
        thread.start()
    time.sleep(options["interactive"])
    requested = tables.cpus_requested() / (shapes.NODE_CPUS * options["nodes"])
    for thread in (users, ends, submissions):
        thread.stop()
    phase.figure("CPUs that running jobs request", 100 * requested, "%")
    figures(phase, users)
    watch.stop()
    failures = ends.failures + submissions.failures
    phase.check("scancel and sbatch are always answered", not failures, failures[:3])
    phases.check_none_lost(phase, tables.jobs(), jobs + len(submissions.seconds) - len(ends.ended),
                           options["rate"] * len(failures))
    check(phase, options, users)


def figures(phase, users):
    phase.waits("salloc", users.waits())
    phase.figure("calls of salloc", len(users.waits()), "")
    phase.figure(f"given up after {TIMEOUT} s", users.given_up, "")


def check(phase, options, users):
    phase.check("salloc is always answered", users.waits() and not users.failures, users.failures[:3])
    if options["scheduler"] == "dfrs":
        slow = percentile(users.waits(), 0.99)
        phase.check(f"p99 of salloc is below {MAX_P99:g} s", slow < MAX_P99, f"{slow:.2f} s")
