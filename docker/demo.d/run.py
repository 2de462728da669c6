# SPDX-License-Identifier: GPL-2.0-or-later
"""One run of the workload on a cluster that is up."""

import json
import shutil
import subprocess
import sys
import threading
import time

import figures
import records
import schedulers
import shares
from cluster import CORE_PER_CPU, DOCKER, NODES, Failure
from ordinary import PROGRAMS, Ordinary

POLL = 2.0
# An administrator reserves this node so many seconds after the beginning, and has it 20 s later for a minute; the
# ordinary programs come before.
MAINTAINED, ORDINARY_AFTER, MAINTAINED_AFTER = "n2", 30, 40
JOURNAL = "/var/log/slurm/dfrs-journal.jsonl"
MEASUREMENTS = "/var/log/dfrs-measurements.jsonl"
DFRSD_LOG = "/var/log/dfrsd.log"


class Progress:
    """One line that is rewritten on a terminal, and a line every ten seconds elsewhere."""

    def __init__(self, heading):
        self.heading = heading
        self.began = time.monotonic()
        self.shown = float("-inf")

    def note(self, text):
        """A line that stays."""
        clear = "\r\033[K" if sys.stderr.isatty() else ""
        print(f"{clear}  {self.heading:22} {time.monotonic() - self.began:4.0f} s  {text}", file=sys.stderr, flush=True)

    def show(self, text, final=False):
        elapsed = time.monotonic() - self.began
        line = f"  {self.heading:22} {elapsed:4.0f} s  {text}"
        if sys.stderr.isatty():
            print(f"\r{line}\033[K", end="\n" if final else "", file=sys.stderr, flush=True)
        elif final or elapsed - self.shown >= 10:
            self.shown = elapsed
            print(line, file=sys.stderr, flush=True)


class Moves:
    """What the journal says of jobs that give up their place or get another one, line by line."""

    WORDS = {"pause": "leaves its node", "resume": "goes on on", "migrate": "moves to"}

    def __init__(self, cluster):
        self.cluster = cluster
        self.read = 0

    def new(self):
        """Lines since the last call."""
        text = self.cluster.output("controller", "sh", "-c", f"tail --bytes=+{self.read + 1} {JOURNAL} 2>/dev/null || true")
        whole = text[:text.rfind("\n") + 1]
        self.read += len(whole.encode())
        events = (json.loads(line) for line in whole.splitlines())
        return [self.line(event) for event in events if event["event"] in self.WORDS]

    def line(self, event):
        nodes = ",".join(sorted({NODES[position] for position in event.get("nodes", [])}))
        words = " ".join(filter(None, (f"job {event['job']}", self.WORDS[event["event"]], nodes)))
        return f"{words}: {event['reason']}" if "reason" in event else words


def run(cluster, scheduler, rows, jobs, longest, name):
    """Submits everything, waits for the end, and returns (figures, journal). `name`: of this run."""
    directory = "/home/alice/demo"
    submitter = start_submitting(cluster, scheduler, directory, rows)
    ordinary = Ordinary(cluster)
    timers = (threading.Timer(ORDINARY_AFTER, ordinary.submit),
              threading.Timer(MAINTAINED_AFTER, maintain, [cluster]))
    for timer in timers:
        timer.start()
    try:
        wait_for_end(cluster, name, len(jobs) + len(PROGRAMS), submitter, longest,
                     Moves(cluster) if scheduler == "dfrs" else None)
    finally:
        for timer in timers:
            timer.cancel()
        submitter.kill()
    return collect(cluster, scheduler, directory, jobs, name, ordinary.problems())


def maintain(cluster):
    """Of the jobs on that node Slurm lets those run on that it has; DFRS has those leave that can."""
    cluster.output("controller", "scontrol", "create", "reservation", "reservationname=maintenance", "starttime=now+20",
                   "duration=1", f"nodes={MAINTAINED}", "flags=maint,ignore_jobs", "users=root")


def start_submitting(cluster, scheduler, directory, rows):
    command = cluster.command("controller", "/opt/demo/submit.sh", directory, str(CORE_PER_CPU))
    submitter = subprocess.Popen(command, stdin=subprocess.PIPE, text=True, start_new_session=True)
    submitter.stdin.write("".join(row.submission() + schedulers.options(scheduler, row) + "\n" for row in rows))
    submitter.stdin.close()
    return submitter


def wait_for_end(cluster, name, expected, submitter, longest, moves=None):
    progress = Progress(name)
    deadline = time.monotonic() + longest
    while True:
        states = job_states(cluster)
        counts = {state: states.count(state) for state in set(states)}
        ended = sum(state not in UNDER_WAY for state in states)
        over = submitter.poll() is not None and ended == len(states)
        for line in moves.new() if moves else ():
            progress.note(line)
        progress.show(summary(counts, ended, expected), final=over)
        if over:
            return
        if time.monotonic() > deadline:
            raise Failure(
                f"after {longest} s {expected - ended} of {expected} jobs have not ended;"
                f" run again with --keep and look with docker/shell"
            )
        time.sleep(POLL)


UNDER_WAY = ("PENDING", "RUNNING", "SUSPENDED", "COMPLETING", "CONFIGURING", "STOPPED", "REQUEUED")


def job_states(cluster):
    """The state of every job so far, ended ones included (MinJobAge keeps them)."""
    command = ("squeue", "--noheader", "--array", "--states=all", "--format=%T")
    return cluster.output("controller", *command).split()


def summary(counts, ended, expected):
    parts = [f"{counts.get(state, 0):2} {word}" for state, word in
             (("PENDING", "waiting"), ("RUNNING", "running"), ("SUSPENDED", "paused"))]
    return ", ".join(parts) + f", {ended:2} of {expected} ended"


def keep_records(cluster, name, files):
    """Puts the jobs' own records and the daemons' logs where the user can read them afterwards."""
    target = DOCKER.parent / "target" / "demo" / f"{cluster.label}-{name.replace(' ', '-')}"
    shutil.rmtree(target, ignore_errors=True)
    cluster.keep(target / "jobs", files)
    cluster.keep_logs(target)


def collect(cluster, scheduler, directory, jobs, name, more_problems):
    files = cluster.files("controller", directory)
    keep_records(cluster, name, files)
    outcomes, problems = records.outcomes(jobs, files, CORE_PER_CPU)
    journal, differences, images = "", [], 0
    if scheduler == "dfrs":
        images = sum(cluster.output(node, "cat", DFRSD_LOG).count("its image is complete") for node in NODES)
        journal = cluster.output("controller", "cat", JOURNAL)
        texts = [cluster.output(node, "cat", MEASUREMENTS) for node in NODES]
        differences = shares.differences(shares.measurements(texts), windows(jobs, files))
    return figures.of_run(outcomes, jobs, problems + more_problems, journal, differences, images), journal


def windows(jobs, files):
    """Slurm's job id -> (name, times in which all tasks worked)."""
    found = {}
    for name, row in jobs.items():
        window = records.task_window(name, row, files)
        for line in files.get(f"{name}.job", "").splitlines():
            _, event, identity, *_ = line.split()
            if event == "begin" and window:
                found[int(identity)] = (name, [window])
    return found
