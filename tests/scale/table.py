# SPDX-License-Identifier: GPL-2.0-or-later
"""The figures of all schedulers side by side."""


def figures(records):
    """{(phase, measure): (value, unit)} in the order in which they came."""
    return {(record["phase"], record["measure"]): (record["value"], record["unit"])
            for record in records if "measure" in record}


def starts(records, phase):
    """Seconds from the phase's begin to each start, ascending."""
    return next((record["timeline"] for record in records if record["phase"] == phase and "timeline" in record), [])


def rows_of_starts(runs, phase, shares=(0.5, 0.9, 1.0)):
    """When so many had started as all schedulers have in the end, and shares of that."""
    timelines = {name: starts(records, phase) for name, records in runs.items()}
    common = min(map(len, timelines.values()), default=0)
    counts = sorted({max(round(common * share), 1) for share in shares}) if common else []
    return [((phase, f"{count} have started after"),
             {name: (timeline[count - 1], "s") for name, timeline in timelines.items()}) for count in counts]


def rows(runs):
    """[((phase, measure), {scheduler: (value, unit)})]."""
    by_run = {name: figures(records) for name, records in runs.items()}
    keys = list(dict.fromkeys(key for found in by_run.values() for key in found))
    table = []
    for phase in dict.fromkeys(phase for phase, _ in keys):
        table += rows_of_starts(runs, phase)
        table += [(key, {name: found[key] for name, found in by_run.items() if key in found})
                  for key in keys if key[0] == phase]
    return table


def number(value, unit):
    """With as many digits as mean something."""
    if unit == "s" and value < 1:
        return f"{1000 * value:.1f} ms"
    digits = 0 if unit == "" else 1 if value >= 10 else 2
    return f"{value:,.{digits}f} {unit}".strip()


def ratio(cells, names):
    """Of the last scheduler to the first."""
    if len(names) < 2 or names[0] not in cells or names[-1] not in cells or not cells[names[0]][0]:
        return ""
    return f"{cells[names[-1]][0] / cells[names[0]][0]:.2f}"


def is_detail(measure):
    """Whether the measure is shown with --details only."""
    return measure.endswith((" p95", " count")) and not measure.startswith("start of") or "thread " in measure


def text(runs, details):
    """The table, as Markdown; with all rows, or without details."""
    names = list(runs)
    ratios = [f"{names[-1]} / {names[0]}"] if len(names) > 1 else []
    lines = [["phase", "measure", *names, *ratios]]
    for (phase, measure), cells in rows(runs):
        if is_detail(measure) and not details:
            continue
        values = [number(*cells[name]) if name in cells else "" for name in names]
        lines.append([phase, measure, *values, *([ratio(cells, names)] if ratios else [])])
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    lines.insert(1, ["-" * width for width in widths])
    return "\n".join("| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |" for line in lines)
