# SPDX-License-Identifier: GPL-2.0-or-later
"""The figures of one run, and both side by side."""

import json


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else None


def of_run(outcomes, jobs, problems, journal, differences):
    """A dictionary of everything that is printed; None where there is nothing to measure."""
    events = [json.loads(line)["event"] for line in journal.splitlines() if line.strip()]
    first = min((outcome.submitted for outcome in outcomes), default=None)
    last = max((outcome.ended for outcome in outcomes), default=None)
    return {
        "jobs": len(jobs),
        "finished": len(outcomes),
        "max_stretch": max((outcome.stretch for outcome in outcomes), default=None),
        "mean_stretch": mean(outcome.stretch for outcome in outcomes),
        "mean_wait": mean(outcome.wait for outcome in outcomes),
        "makespan": last - first if outcomes else None,
        "pauses": events.count("pause"),
        "migrations": events.count("migrate"),
        "share_difference_max": max((difference.points for difference in differences), default=None),
        "share_difference_mean": mean(difference.points for difference in differences),
        "shares_measured": len(differences),
        "problems": problems,
        "per_job": [
            {
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
            for outcome in outcomes
        ],
    }


ROWS = (
    ("jobs that finished", lambda run: f"{run['finished']} of {run['jobs']}"),
    ("max bounded stretch (10 s)", lambda run: number(run["max_stretch"], "{:.2f}")),
    ("mean bounded stretch", lambda run: number(run["mean_stretch"], "{:.2f}")),
    ("mean wait", lambda run: number(run["mean_wait"], "{:.1f} s")),
    ("makespan", lambda run: number(run["makespan"], "{:.1f} s")),
    ("pauses", lambda run: str(run["pauses"])),
    ("migrations", lambda run: str(run["migrations"])),
    ("CPU share, worst difference", lambda run: number(run["share_difference_max"], "{:.1f} points")),
    ("CPU share, mean difference", lambda run: number(run["share_difference_mean"], "{:.1f} points")),
)


def number(value, form):
    return "-" if value is None else form.format(value)


def table(runs):
    """Text: a line a figure, a column a scheduler. `runs`: heading -> figures."""
    lines = [f"{'':30}" + "".join(f"{heading:>18}" for heading in runs)]
    for title, show in ROWS:
        lines.append(f"{title:30}" + "".join(f"{show(figures):>18}" for figures in runs.values()))
    return "\n".join(lines)
