# SPDX-License-Identifier: GPL-2.0-or-later
"""The workload table: what is submitted when, and how much work each job is."""

import math
import re
from dataclasses import dataclass

# Slurm's time limits are whole minutes. A user who knows the job well requests twice what it takes;
# the batch system deserves good estimates.
LIMIT_FACTOR = 2


@dataclass(frozen=True)
class Row:
    """One line of the table, that is one sbatch."""

    label: str
    at: int
    user: str
    work: int
    memory: int
    mobility: str
    options: str

    @property
    def limit(self):
        """Seconds that its user would request."""
        return self.work * LIMIT_FACTOR

    @property
    def minutes(self):
        return math.ceil(self.limit / 60)

    @property
    def tasks(self):
        return int(re.search(r"-n (\d+)", self.options).group(1))

    def option(self, name, otherwise):
        """The number that an option of sbatch has."""
        found = re.search(rf"{name}[= ](\d+)", self.options)
        return int(found.group(1)) if found else otherwise

    @property
    def cpus(self):
        """Of each task."""
        return self.option("-c", 1)

    @property
    def task_memory(self):
        """MB; what a job has on each node is shared by its tasks there."""
        per_node = self.option("--mem", 0) / self.option("--ntasks-per-node", self.tasks)
        return self.option("--mem-per-cpu", 0) * self.cpus or per_node

    def submission(self):
        """The line that submit.sh reads."""
        fields = (self.label, self.at, self.user, self.work, self.memory, self.mobility, self.minutes)
        return " ".join(map(str, fields)) + " " + self.options

    def jobs(self):
        """(name, row) of each job: several for an array."""
        array = re.search(r"--array=(\d+)-(\d+)", self.options)
        if not array:
            return [(self.label, self)]
        first, last = map(int, array.groups())
        return [(f"{self.label}.{index}", self) for index in range(first, last + 1)]


def read(path):
    """The rows of the table at `path`; ValueError with file and line if one is malformed."""
    rows = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            at, user, work, memory, mobility, options = line.split(None, 5)
            row = Row(f"w{len(rows) + 1:02}", int(at), user, int(work), int(memory), mobility, options)
            check(row)
        except (ValueError, AttributeError) as error:
            raise ValueError(f"{path}:{number}: {error}; a line is: at user work memory mobility options")
        rows.append(row)
    return rows


def check(row):
    if row.mobility not in ("carry", "park", "checkpoint", "never"):
        raise ValueError(f"mobility '{row.mobility}' is not carry, park, checkpoint or never")
    if row.mobility == "carry" and row.tasks > 1:
        raise ValueError("a job of several tasks cannot be carried")
    if row.tasks < 1 or row.work < 1:
        raise ValueError("a job needs a task (-n) and a second of work")


# What a node has (docker/node/setup.sh).
NODE_CPUS = 4
NODE_MEMORY = 1000


def trace(jobs):
    """All jobs as the CSV of dfrs sim: CPU and memory of a task as shares of a node."""
    lines = ["id,submit,tasks,cpu,mem,runtime"]
    for name, row in jobs.items():
        cpu = row.cpus / NODE_CPUS
        lines.append(f"{name},{row.at},{row.tasks},{cpu},{row.task_memory / NODE_MEMORY},{row.work}")
    return "\n".join(lines) + "\n"


def jobs(rows):
    """Every job by name, in order of submission."""
    return dict(job for row in rows for job in row.jobs())
