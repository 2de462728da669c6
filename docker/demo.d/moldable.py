# SPDX-License-Identifier: GPL-2.0-or-later
"""docker/demo --moldable: the same moldable jobs under backfill and under DEMT, side by side."""

import statistics
import subprocess
import time
from dataclasses import dataclass

import run
import table
from cluster import DOCKER, Failure

# Name -> (what docker/up brings up, the fewest nodes that a job may get, the most).
SCHEDULERS = {
    # Each job on one node: no work is lost to parallelism.
    "backfill-one": ("backfill-whole", lambda job: (1, 1)),
    # Each job on as many nodes as its user would request.
    "backfill-asked": ("backfill-whole", lambda job: (job.asks, job.asks)),
    # Slurm takes as many of the nodes as are free when the job starts.
    "backfill-range": ("backfill-whole", lambda job: (1, len(job.times))),
    "DEMT": ("dfrs", lambda job: (1, len(job.times))),
}
# Of sbatch's --priority.
PRIORITY_OF_WEIGHT_ONE = 1000
SUBMIT = "/opt/demo/moldable-submit.sh"
READY_SECONDS = 120

ROWS = (
    ("jobs that finished", "finished"),
    ("makespan, s", "makespan"),
    ("weighted mean completion, s", "weighted_completion"),
    ("mean completion, s", "mean_completion"),
    ("longest completion, s", "max_completion"),
    ("nodes a job, mean", "mean_nodes"),
    ("nodes in use, %", "used_percent"),
)
NOTES = """\
Completion: time from the first submission to the job's end. All with whole nodes.
backfill-one: one node a job. backfill-asked: as many as its user would ask for (used
by half at least). backfill-range: sbatch -N 1-4, of which Slurm gives what is free.
DEMT: the same, with the job's speedup in its comment."""


@dataclass(frozen=True)
class Job:
    """A line of the workload: how long the job takes on 1, 2, … nodes, in seconds."""

    name: str
    weight: float
    asks: int
    times: tuple

    @property
    def speedup(self):
        """The word of its comment."""
        return "dfrs:speedup=" + ",".join(f"{self.times[0] / time:.3f}" for time in self.times)

    @property
    def priority(self):
        return round(self.weight * PRIORITY_OF_WEIGHT_ONE)

    def limit(self, nodes):
        """Its user's estimate for so many nodes: minutes, see docker/moldable-workload."""
        return max(1, round(self.times[nodes - 1]))

    def submission(self, least, most):
        """The line that moldable-submit.sh reads."""
        words = (self.name, self.priority, self.limit(least), f"{least}-{most}", self.speedup, *self.times)
        return " ".join(map(str, words))


def read(path):
    """The jobs of the table at `path`; ValueError with file and line if one is malformed."""
    jobs = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            weight, asks, *times = line.split()
            job = Job(f"m{len(jobs) + 1:02}", float(weight), int(asks), tuple(map(float, times)))
            if not job.weight > 0 or not times or not 1 <= job.asks <= len(times) or min(job.times) <= 0:
                raise ValueError("out of range")
        except ValueError as error:
            raise ValueError(f"{path}:{number}: {error}; a line is: weight asks seconds…") from None
        jobs.append(job)
    return jobs


@dataclass(frozen=True)
class Outcome:
    """What came of a job, in UNIX seconds."""

    job: Job
    begun: float
    ended: float
    nodes: int


def outcomes(jobs, files):
    """(outcomes, problems): a problem is a line about a job that did not run exactly once, on all of its nodes."""
    good, problems = [], []
    for job in jobs:
        lines = [line.split() for line in files.get(f"{job.name}.job", "").splitlines()]
        begins, ends, tasks = ([line for line in lines if line[1] == word] for word in ("begin", "end", "task"))
        if len(begins) != 1 or len(ends) != 1 or ends[0][2] != "0":
            problems.append(f"{job.name}: began {len(begins)} times, ended {len(ends)} times")
            continue
        nodes = int(begins[0][2])
        on = {line[2] for line in tasks}
        if len(tasks) != nodes or len(on) != nodes:
            problems.append(f"{job.name}: has {nodes} nodes, and its step ran on {', '.join(sorted(on)) or 'none'}")
            continue
        good.append(Outcome(job, float(begins[0][0]), float(ends[0][0]), nodes))
    return good, problems


def overlaps(done):
    """A line for each pair of jobs that were on one node at a time: whole nodes are not shared."""
    lines = []
    for place, (first, nodes) in enumerate(done):
        for other, others in done[place + 1:]:
            shared = nodes & others
            if shared and first.begun < other.ended and other.begun < first.ended:
                lines.append(f"{first.job.name} and {other.job.name} were on {', '.join(sorted(shared))} together")
    return lines


def nodes_of(outcome, files):
    lines = (line.split() for line in files[f"{outcome.job.name}.job"].splitlines())
    return {line[2] for line in lines if line[1] == "task"}


def figures(jobs, files):
    """A dictionary of everything that is printed of one run."""
    done, problems = outcomes(jobs, files)
    problems = problems + overlaps([(outcome, nodes_of(outcome, files)) for outcome in done])
    submitted = [float(line.split()[0]) for line in files.get("submitted", "").splitlines()]
    began = min(submitted, default=None)
    result = {"jobs": len(jobs), "finished": len(done), "problems": problems}
    if not done or began is None:
        return result
    completions = {outcome: outcome.ended - began for outcome in done}
    weights = sum(outcome.job.weight for outcome in done)
    makespan = max(completions.values())
    used = sum(outcome.nodes * (outcome.ended - outcome.begun) for outcome in done)
    most = max(len(job.times) for job in jobs)
    return {
        **result,
        "makespan": makespan,
        "weighted_completion": sum(outcome.job.weight * end for outcome, end in completions.items()) / weights,
        "mean_completion": statistics.fmean(completions.values()),
        "max_completion": makespan,
        "mean_nodes": statistics.fmean(outcome.nodes for outcome in done),
        "used_percent": 100 * used / (makespan * most),
        "per_job": [{
            "name": outcome.job.name, "weight": outcome.job.weight, "nodes": outcome.nodes,
            "begun": round(outcome.begun - began, 3), "ended": round(outcome.ended - began, 3),
        } for outcome in done],
    }


def text(results):
    """`results`: scheduler -> figures of each of its runs."""
    lines = [table.line("", results)]
    if any(len(runs) > 1 for runs in results.values()):
        lines.append(table.line("runs", [str(len(runs)) for runs in results.values()]))
    for title, key in ROWS:
        lines.append(table.line(title, [table.cell([one.get(key) for one in runs]) for runs in results.values()]))
    return "\n".join([*lines, "", NOTES])


def run_once(cluster, scheduler, jobs, longest, name):
    """Submits everything to a cluster that is up, waits for the end, and returns (figures, journal)."""
    directory = "/home/alice/moldable"
    if scheduler == "DEMT":
        configure(cluster)
    nodes = SCHEDULERS[scheduler][1]
    command = cluster.command("controller", SUBMIT, directory)
    submitter = subprocess.Popen(command, stdin=subprocess.PIPE, text=True, start_new_session=True)
    submitter.stdin.write("".join(job.submission(*nodes(job)) + "\n" for job in jobs))
    submitter.stdin.close()
    try:
        run.wait_for_end(cluster, name, len(jobs), submitter, longest)
    finally:
        submitter.kill()
    files = cluster.files("controller", directory)
    run.keep_records(cluster, name, files)
    journal = cluster.output("controller", "cat", run.JOURNAL) if scheduler == "DEMT" else ""
    return figures(jobs, files), journal


CONF = "/etc/slurm/dfrs.conf"


def configure(cluster):
    """Gives the partition to DEMT, and waits until the plugin reports it."""
    change = "s/^Partition=main .*/JobWeight=priority\\nPartition=main Policy=DEMT/"
    before = ready(cluster)
    cluster.output("controller", "sed", "-i", change, CONF)
    cluster.output("controller", "scontrol", "reconfigure")
    deadline = time.monotonic() + READY_SECONDS
    while ready(cluster) <= before:
        if time.monotonic() > deadline:
            raise Failure("DFRS does not schedule; see target/demo, controller/slurm/slurmctld.log")
        time.sleep(0.5)


def ready(cluster):
    """How many times DFRS has said that it schedules."""
    log = cluster.output("controller", "cat", "/var/log/slurm/slurmctld.log")
    return log.count("schedules partition")


WORKLOAD = DOCKER / "moldable-workload"
