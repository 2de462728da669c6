# SPDX-License-Identifier: GPL-2.0-or-later
"""The demo's workload, made of a trace of the Lublin-Feitelson model by rules that leave no choice."""

import csv
import math
import random
from dataclasses import dataclass

from workload import NODE_CPUS, NODE_MEMORY

NODES = 4
SEED = 1
HOURS = (8, 18)
# Of the days of the trace the first with so many jobs in these hours is taken.
JOBS = (60, 90)
# Launching a job takes about a second here: none is to be shorter than three.
TIME_SCALE = 400
MIN_WORK = 3
# Work over what all CPUs can do from the first submission to the last.
LOAD = 0.9
MOBILITIES = (("carry", 0.6), ("park", 0.3), ("never", 0.1))
# MB that a job has beside what its tasks fill: its script, srun.
MARGIN = 30

HEADER = """\
# The demo's workload: one sbatch a line, read by docker/demo.d. Made by docker/make-workload, nothing
# in it is chosen by hand:
#
#   jobs        of the Lublin-Feitelson model: dfrs generate --seed {seed} --nodes {nodes}; those that are submitted
#               from {first}:00 to {last}:00 of day {day}, the first day with {least} to {most} jobs in these hours
#   run times   over {scale}, rounded to seconds, at least {least_work} s
#   arrivals    scaled by one factor, so that the work is {load} of what the {cpus} CPUs can do from the first
#               submission to the last
#   nodes       one for each job, as of 98 in 100 jobs on a university's cluster
#   CPU         by the model: a job of one task needs a quarter of a node, that is one CPU; others need what
#               one of their tasks does, a node's {node_cpus} CPUs
#   memory      by the model: 10% of a node in 55% of the jobs, else 20% to 100%
#   mobility    drawn (seed {seed}): {mix}
#
# What came of it: {count} jobs in {span} s, of which {single} need one CPU. {short} run {least_work} s, the others
# {long}; {counts}.
#
#   at          seconds after the start at which it is submitted
#   user        who submits it
#   work        dedicated run time in seconds: what it takes if it gets all the CPU it can use
#   memory      MB that it fills and keeps in use
#   mobility    carry (written to an image, goes on elsewhere), park (frozen, its memory to swap) or never
#   options     for sbatch; the job gets memory a little above what it uses
#
# at user  work memory mobility   options
"""


@dataclass(frozen=True)
class Job:
    """A line of the trace, of whose tasks one is taken: CPU and memory as shares of a node, times in seconds."""

    submit: float
    cpu: float
    memory: float
    run_time: float

    @property
    def work(self):
        return max(MIN_WORK, round(self.run_time / TIME_SCALE))

    @property
    def cpus(self):
        return round(self.cpu * NODE_CPUS)

    @property
    def megabytes(self):
        return round(self.memory * NODE_MEMORY)

    @property
    def options(self):
        """Of sbatch."""
        return f"-n 1 -c {self.cpus} --mem={self.megabytes}"


def read(text):
    """The jobs of a CSV trace of dfrs generate."""
    rows = csv.DictReader(line for line in text.splitlines() if not line.startswith("#"))
    return [Job(float(row["submit"]), float(row["cpu"]), float(row["mem"]), float(row["runtime"]))
            for row in rows]


def working_hours(jobs):
    """(day, its jobs): the first day with as many jobs as wanted. ValueError if there is none."""
    for day in range(math.ceil(jobs[-1].submit / 86400)):
        first, last = (3600 * (24 * day + hour) for hour in HOURS)
        found = [job for job in jobs if first <= job.submit < last]
        if JOBS[0] <= len(found) <= JOBS[1]:
            return day + 1, found
    raise ValueError(f"no day of the trace has {JOBS[0]} to {JOBS[1]} jobs from {HOURS[0]}:00 to {HOURS[1]}:00")


def arrivals(jobs):
    """When each is submitted, in whole seconds after the first, so that the load is as wanted."""
    work = sum(job.cpus * job.work for job in jobs)
    span = work / (LOAD * NODES * NODE_CPUS)
    first, last = jobs[0].submit, jobs[-1].submit
    return [round((job.submit - first) * span / (last - first)) for job in jobs]


def mobilities(count):
    draw = random.Random(SEED)
    kinds, shares = zip(*MOBILITIES)
    # By hand: random.choices() may draw otherwise in another version of Python, random() never does.
    limits = [sum(shares[:end]) for end in range(1, len(shares))]
    drawn = (draw.random() for _ in range(count))
    return [kinds[sum(number >= limit for limit in limits)] for number in drawn]


def table(text):
    """The whole file docker/workload, from the trace."""
    day, jobs = working_hours(read(text))
    times, kinds = arrivals(jobs), mobilities(len(jobs))
    lines = [f"{at:4} alice {job.work:4} {job.megabytes - MARGIN:6} {kind:10} {job.options}"
             for at, job, kind in zip(times, jobs, kinds)]
    return header(day, jobs, times, kinds) + "\n".join(lines) + "\n"


def header(day, jobs, times, kinds):
    longer = sorted(job.work for job in jobs if job.work > MIN_WORK)
    return HEADER.format(
        seed=SEED, nodes=NODES, first=HOURS[0], last=HOURS[1], day=day, least=JOBS[0], most=JOBS[1],
        scale=TIME_SCALE, least_work=MIN_WORK, load=LOAD, cpus=NODES * NODE_CPUS, node_cpus=NODE_CPUS,
        mix=", ".join(f"{kind} {share}" for kind, share in MOBILITIES),
        count=len(jobs), span=times[-1], single=sum(job.cpus == 1 for job in jobs),
        short=len(jobs) - len(longer), long=f"{longer[0]} to {longer[-1]} s",
        counts=", ".join(f"{kinds.count(kind)} {kind}" for kind, _ in MOBILITIES),
    )
