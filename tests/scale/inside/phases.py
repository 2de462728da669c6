# SPDX-License-Identifier: GPL-2.0-or-later
"""The phases of a run: empty, filling, full, steady, idle."""

import time

import load
import shapes
import tables
from events import quiet_for
from measures import Phase
from probes import SmallJobs, latencies
from watch import Watch

# Nothing more is going to start when nothing has for so long and so many cycles have ended since.
QUIET_SECONDS = 8
QUIET_CYCLES = 2
# A full cluster has settled when nothing has started for so long.
SETTLED_SECONDS = 3


def wait_for_starts(events, prefix, count, watch, seconds):
    """Waits until so many jobs with such names have started, nothing more starts, or the time is over.
    Says which."""
    begin = time.time()
    started, cycles = -1, 0
    while time.time() - begin < seconds:
        now = len(events.started(prefix))
        if now >= count:
            return "all started"
        if now != started:
            started, cycles = now, watch.cycles.count
        if quiet_for(events, prefix, begin) > QUIET_SECONDS and watch.cycles.count >= cycles + QUIET_CYCLES:
            return "nothing more starts"
        time.sleep(0.2)
    return "time is over"


def settle(events, watch, seconds):
    """Waits until a cycle has seen all that was submitted and nothing starts any more."""
    begin, cycles = time.time(), watch.cycles.count
    while time.time() - begin < seconds:
        if watch.cycles.count > cycles and quiet_for(events, "", begin) > SETTLED_SECONDS:
            return
        time.sleep(0.2)


def empty(controller, events, seconds):
    """No jobs."""
    watch = Watch(Phase("empty"), controller, events)
    time.sleep(seconds)
    watch.stop()


def filling(controller, events, options):
    """Many jobs at once, and a small one every second in the midst of it."""
    phase = Phase("filling")
    jobs = load.names("load", shapes.MIXED)
    watch = Watch(phase, controller, events)
    small = SmallJobs(1)
    small.start()
    calls = load.submit_all(jobs, options["jobs"], options["shape"])
    phase.figure("submission of all", time.time() - watch.begin, "s")
    end = wait_for_starts(events, "load", options["jobs"], watch, options["seconds"])
    small.stop()
    wait_for_starts(events, "small", len(small.called), watch, min(10, options["seconds"]))
    started = events.started("load").values()
    phase.timeline(started, watch.begin)
    phase.figure("started", len(started), "")
    phase.figure("last start", max(started, default=watch.begin) - watch.begin, "s")
    waits, never = latencies(small.called, events.started("small"), time.time())
    phase.spread("start of a small job", waits)
    phase.figure("small jobs that did not start", never, "")
    phase.spread("sbatch of a small job", small.seconds)
    phase.spread("sbatch of the load", calls)
    phase.figure("jobs started twice", events.restarts, "")
    watch.stop()
    check_filling(phase, options, jobs, small, end)


def check_filling(phase, options, jobs, small, end):
    counts = tables.jobs()
    submitted = options["jobs"] + len(small.called)
    check_none_lost(phase, counts, submitted, len(small.failures))
    free = tables.rooms(count_cpus=options["scheduler"] != "dfrs")
    room = tables.with_room(counts, {**jobs, "small": shapes.SMALL}, free)
    phase.figure("waiting with room", room, "")
    # Backfill keeps room free on purpose, for the jobs at the head of its queue.
    if options["scheduler"] == "dfrs":
        phase.check("all that have room have started", room == 0, f"{room} wait although there is room; {end}")
    phase.check("sbatch is always answered", not small.failures, small.failures[:3])


def jobs_a_node(options):
    """Of the steady state."""
    return -(-options["running"] // options["nodes"])


def mixture(options, slots, count):
    """How many of so many jobs are of the other partition, and the shapes of the rest."""
    return (count // 3, shapes.with_devices(slots)) if options["mixed"] else (0, slots)


def full(controller, events, options, per_node, queued, memory=1):
    """Before the steady state: so many running jobs on each node, which leave no CPUs and need that part of its memory,
    and a queue."""
    phase = Phase("full")
    watch = Watch(phase, controller, events)
    # Jobs of another partition hold their nodes before DFRS fills what they leave.
    others, own = mixture(options, [shapes.slot(per_node, memory)] * 20, per_node * options["nodes"])
    if others:
        load.submit_all(load.names("running-other", shapes.others(own)), others)
        wait_for_starts(events, "running", others, watch, options["seconds"])
    load.submit_all(load.names("running", own), per_node * options["nodes"] - others)
    end = wait_for_starts(events, "running", per_node * options["nodes"], watch, options["seconds"])
    started = events.started("running").values()
    phase.timeline(started, watch.begin)
    phase.figure("started", len(started), "")
    phase.figure("last start", max(started, default=watch.begin) - watch.begin, "s")
    others, own = mixture(options, shapes.slots(per_node, memory), queued)
    calls = load.submit_all(load.names("waiting-other", shapes.others(own)), others)
    phase.spread("sbatch of the queue", calls + load.submit_all(load.names("waiting", own), queued - others))
    settle(events, watch, options["seconds"])
    watch.stop()
    phase.check("the cluster is full", len(started) == per_node * options["nodes"],
                f"{len(started)} of {per_node * options['nodes']} run: {end}")
    return per_node * options["nodes"] + queued


def steady(controller, events, options, jobs):
    """Ends and submissions at a rate, over a full cluster with a long queue."""
    phase = Phase("steady")
    per_node = jobs_a_node(options)
    before = len(events.started(""))
    ends = load.Ends(options["rate"], events)
    submissions = load.Submissions(options["rate"], shapes.slot(per_node), "new")
    watch = Watch(phase, controller, events)
    ends.start()
    submissions.start()
    time.sleep(options["steady"])
    ends.stop()
    submissions.stop()
    phase.spread("sbatch", submissions.seconds)
    phase.figure("ended", len(ends.ended), "")
    phase.figure("submitted", len(submissions.seconds), "")
    phase.figure("started", len(events.started("")) - before, "")
    watch.stop()
    failures = ends.failures + submissions.failures
    phase.check("scancel and sbatch are always answered", not failures, failures[:3])
    check_steady(phase, jobs + len(submissions.seconds) - len(ends.ended), options["rate"] * len(failures))


def check_none_lost(phase, counts, expected, unknown):
    """As many jobs as there must be; a call that was not answered may or may not have done its work."""
    found = tables.alive(counts)
    phase.check("no job is lost", abs(found - expected) <= unknown, f"{found} of {expected} wait or run")


def check_steady(phase, expected, unknown):
    counts = tables.jobs()
    phase.figure("running at the end", tables.in_state(counts, "RUNNING"), "")
    phase.figure("waiting at the end", tables.in_state(counts, "PENDING"), "")
    check_none_lost(phase, counts, expected, unknown)


def idle(controller, events, seconds):
    """The jobs of the steady state, without ends and submissions."""
    time.sleep(min(5, seconds))
    # Even sinfo costs something: seldom.
    watch = Watch(Phase("idle"), controller, events, sinfo_interval=5)
    time.sleep(seconds)
    watch.stop()
