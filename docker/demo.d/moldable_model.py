# SPDX-License-Identifier: GPL-2.0-or-later
"""The workload of docker/demo --moldable, made of tasks of dfrs moldable generate by rules that leave no choice."""

import json

NODES = 4
SEED = 1
MODEL = "cirne"
TASKS = 30
# The model's times are 1 to 10 on one processor: seconds here, times this.
TIME_SCALE = 4
# A user requests as many nodes as are used by half at least.
EFFICIENCY = 0.5

HEADER = """\
# The workload of docker/demo --moldable: one sbatch a line, read by docker/demo.d. Made by
# docker/make-workload, nothing in it is chosen by hand:
#
#   jobs        tasks of the Cirne-Berman model with Downey's speedup:
#               dfrs moldable generate --model {model} --tasks {tasks} --processors {nodes} --seed {seed}
#   times       times {scale}, in seconds
#   weight      the model's, 1 to 10: its Slurm priority is a thousand times that
#   asks        nodes that its user would ask for: the most that are used by half (speedup over nodes)
#
# The time limit of a job is as many minutes as it takes seconds on its smallest number of nodes: Slurm counts
# minutes, and estimates could not be distinguished if they were as short as the times.
#
# All are submitted one after the other at once. What came of it: {tasks} jobs of {work} s on one node, {least} to {most} s;
# {asks}.
#
# weight asks  seconds on 1, 2, ... nodes
"""


def read(text):
    """(weight, times) of each task of the model."""
    tasks = [json.loads(line) for line in text.splitlines()]
    return [(task["weight"], [TIME_SCALE * time for time in task["times"]]) for task in tasks]


def asks(times):
    """How many nodes a user would request."""
    speedups = [times[0] / time for time in times]
    return max(nodes for nodes, speedup in enumerate(speedups, 1) if speedup / nodes >= EFFICIENCY)


def table(text):
    """The whole file docker/moldable-workload, from the tasks."""
    tasks = read(text)
    lines = [f"{weight:6.2f} {asks(times):4}  " + " ".join(f"{time:.2f}" for time in times)
             for weight, times in tasks]
    return header(tasks) + "\n".join(lines) + "\n"


def header(tasks):
    alone = [times[0] for _, times in tasks]
    sizes = [asks(times) for _, times in tasks]
    counts = [f"{sizes.count(size)} ask for {size}" for size in range(1, NODES + 1) if size in sizes]
    return HEADER.format(
        model=MODEL, tasks=len(tasks), nodes=NODES, seed=SEED, scale=TIME_SCALE,
        work=round(sum(alone)), least=round(min(alone)), most=round(max(alone)), asks=", ".join(counts),
    )
