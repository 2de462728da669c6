# SPDX-License-Identifier: GPL-2.0-or-later
"""The figures of all runs as text: a line a figure, a column a scheduler, at most 80 columns wide."""

import statistics

import figures

# What the others are compared with, job by job.
BASE = "backfill-shared"
TITLE_WIDTH, COLUMN_WIDTH = 27, 16

# Title, key. A line of two spaces belongs to the heading above it, which has no key.
ROWS = (
    ("jobs that finished", "finished"),
    ("makespan, s", "makespan"),
    ("CPUs at work, %", "utilization_percent"),
    ("wait for the start, s: mean", "mean_wait"),
    ("stretch: mean", "mean_stretch"),
    ("         median", "median_stretch"),
    ("         largest", "max_stretch"),
    ("slowdown: mean", "mean_slowdown"),
    ("          median", "median_slowdown"),
    ("          largest", "max_slowdown"),
    (f"against {BASE}", None),
    ("  jobs that ended later", "later_jobs"),
    ("    by, s: median", "median_later"),
    ("    by, s: at most", "max_later"),
    ("  jobs that ended sooner", "sooner_jobs"),
    ("    by, s: median", "median_sooner"),
    ("    by, s: at most", "max_sooner"),
    ("what DFRS did to jobs", None),
    ("  pauses", "pauses"),
    ("  moves at once", "migrations"),
    ("  written to an image", "images"),
    ("  work done twice, s", "work_redone_seconds"),
    ("  CPU share off, mean, %", "share_difference_mean"),
    ("  CPU share off, worst, %", "share_difference_max"),
)
OF_DFRS = {"pauses", "migrations", "images", "work_redone_seconds", "share_difference_mean", "share_difference_max"}

NOTES = f"""\
Slowdown: time from submission to end, over the run time on CPUs of its own.
Stretch: the same with 10 s in place of shorter run times, and at least 1, as
in the papers. Later, sooner: by more than {figures.NOISE_SECONDS:.0f} s. Work done twice: lost since a
checkpoint. CPU share off: what was measured from what was promised."""
SEVERAL = "With several runs: median (smallest-largest)."


def number(value):
    """Three digits, but all of those before the point."""
    if isinstance(value, int) or value == int(value):
        return f"{int(value)}"
    return f"{value:.{max(0, 2 - (value >= 10) - (value >= 100))}f}"


def cell(values):
    values = [value for value in values if value is not None]
    if not values:
        return "-"
    least, middle, most = (number(of(values)) for of in (min, statistics.median, max))
    return middle if least == most else f"{middle} ({least}-{most})"


def column(scheduler, results):
    """Key -> the values of all runs. A run is compared with the one of BASE of the same round."""
    bases = results.get(BASE, []) if scheduler != BASE else []
    runs = []
    for index, run in enumerate(results[scheduler]):
        others = figures.beside(run, bases[index]) if index < len(bases) else {}
        used = run["utilization"]
        runs.append({**run, **others, "utilization_percent": None if used is None else 100 * used})
    keys = {key for _, key in ROWS if key and (scheduler == "dfrs" or key not in OF_DFRS)}
    return {key: [run.get(key) for run in runs] for key in keys}


def text(results):
    """`results`: scheduler -> figures of each of its runs."""
    columns = [column(scheduler, results) for scheduler in results]
    several = any(len(runs) > 1 for runs in results.values())
    lines, heading = [line("", results)], []
    if several:
        lines.append(line("runs", [str(len(runs)) for runs in results.values()]))
    for title, key in ROWS:
        cells = [cell(values.get(key, [])) for values in columns]
        if not key:
            heading = [title]
        elif set(cells) != {"-"}:
            lines += [*heading, line(title, cells)]
            heading = []
    return "\n".join([*lines, "", NOTES, *([SEVERAL] if several else [])])


def line(title, cells):
    return f"{title:{TITLE_WIDTH}}" + "".join(f" {cell:>{COLUMN_WIDTH}}" for cell in cells)
