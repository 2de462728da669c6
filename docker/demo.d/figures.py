# SPDX-License-Identifier: GPL-2.0-or-later
"""The figures of one run."""

import json
import statistics

from cluster import NODES
from workload import NODE_CPUS

# What two runs differ by anyway: jobs that end so much sooner or later do not count as such.
NOISE_SECONDS = 1.0


def of_three(name, values):
    """Mean, median and largest under names of their own; None where there is nothing to measure."""
    values = list(values)
    return {
        f"mean_{name}": statistics.fmean(values) if values else None,
        f"median_{name}": statistics.median(values) if values else None,
        f"max_{name}": max(values, default=None),
    }


def of_run(outcomes, jobs, problems, journal, differences, images=0):
    """A dictionary of everything that is printed of one run alone. images: how often a job was written to one."""
    events = [json.loads(line)["event"] for line in journal.splitlines() if line.strip()]
    waits = of_three("wait", (outcome.wait for outcome in outcomes))
    return {
        "jobs": len(jobs),
        "finished": len(outcomes),
        **of_three("stretch", (outcome.stretch for outcome in outcomes)),
        **of_three("slowdown", (outcome.slowdown for outcome in outcomes)),
        **waits,
        **of_machine(outcomes, jobs),
        "pauses": events.count("pause"),
        "migrations": events.count("migrate"),
        "images": images,
        "work_redone_seconds": sum(outcome.redone for outcome in outcomes),
        "share_difference_max": max((difference.points for difference in differences), default=None),
        "share_difference_mean": statistics.fmean(d.points for d in differences) if differences else None,
        "shares_measured": len(differences),
        "problems": problems,
        "per_job": [of_job(outcome) for outcome in outcomes],
    }


def of_machine(outcomes, jobs):
    """The makespan, and the part of all CPUs that did the jobs' work meanwhile (as in dfrs sim)."""
    if not outcomes:
        return {"makespan": None, "utilization": None}
    makespan = max(outcome.ended for outcome in outcomes) - min(outcome.submitted for outcome in outcomes)
    work = sum(outcome.work * outcome.tasks * jobs[outcome.name].cpus for outcome in outcomes)
    return {"makespan": makespan, "utilization": work / (makespan * len(NODES) * NODE_CPUS)}


def of_job(outcome):
    return {
        "name": outcome.name,
        "tasks": outcome.tasks,
        "work": outcome.work,
        "submitted": outcome.submitted,
        "wait": round(outcome.wait, 3),
        "flow": round(outcome.flow, 3),
        "stretch": round(outcome.stretch, 3),
        "restarts": outcome.restarts,
        "work_redone_seconds": round(outcome.redone, 3),
    }


def beside(run, other):
    """How many jobs ended later, or sooner, than in the other run after they were submitted, and by how
    many seconds. Both are of_run()'s."""
    before = {job["name"]: job["flow"] for job in other["per_job"]}
    gains = [before[job["name"]] - job["flow"] for job in run["per_job"] if job["name"] in before]
    figures = {}
    for word, sign in (("later", -1), ("sooner", 1)):
        seconds = [sign * gain for gain in gains if sign * gain > NOISE_SECONDS]
        figures |= {f"{word}_jobs": len(seconds), **of_three(word, seconds)}
    return figures
