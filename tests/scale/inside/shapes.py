# SPDX-License-Identifier: GPL-2.0-or-later
"""What jobs request, and whether some nodes have room for it."""

from dataclasses import dataclass, replace

NODE_CPUS = 32
NODE_MEGABYTES = 64000


@dataclass(frozen=True)
class Shape:
    """`units` equal parts, each of so many CPUs and megabytes on one node; `spread`: on a node each. `further`: options
    of sbatch that say something else."""

    units: int
    cpus: int
    megabytes: int
    spread: bool = False
    further: tuple = ()

    def options(self):
        """As sbatch takes it."""
        if self.spread:
            return [f"--nodes={self.units}", f"--ntasks-per-node={self.cpus}", f"--mem={self.megabytes}", *self.further]
        return [f"--ntasks={self.units}", f"--cpus-per-task={self.cpus}",
                f"--mem-per-cpu={self.megabytes // self.cpus}", *self.further]

    def fits(self, rooms):
        """Whether nodes with these (free CPUs, free megabytes) could take it now."""
        missing = self.units
        for cpus, megabytes in rooms:
            here = min(cpus // self.cpus, megabytes // self.megabytes)
            missing -= min(here, 1) if self.spread else max(here, 0)
            if missing <= 0:
                return True
        return False


# From a serial job to one of 64 tasks; a job's mean is 12.5 CPUs and 16 GB.
MIXED = (
    Shape(1, 1, 2000), Shape(4, 1, 1000), Shape(16, 1, 500), Shape(64, 1, 500), Shape(1, 4, 8000),
    Shape(2, 8, 8000), Shape(4, 4, 16000, spread=True), Shape(1, 1, 32000), Shape(8, 1, 2000), Shape(1, 1, 4000),
    Shape(2, 1, 1000), Shape(3, 1, 1000), Shape(5, 1, 1000), Shape(7, 1, 1000), Shape(12, 1, 1000),
    Shape(24, 1, 1000), Shape(1, 2, 3000), Shape(1, 16, 12000), Shape(2, 8, 20000, spread=True), Shape(32, 1, 700),
)

# What is submitted in the midst of it.
SMALL = Shape(1, 1, 500)


def slot(jobs_a_node, memory=1):
    """The shape of which a node takes exactly so many by its CPUs; together they need that part of its memory."""
    cpus = NODE_CPUS // jobs_a_node
    return Shape(1, cpus, int(memory * NODE_MEGABYTES) // jobs_a_node // cpus * cpus)


def slots(jobs_a_node, memory=1):
    """Twenty shapes of whole slots: most of one, some of up to four."""
    one = slot(jobs_a_node, memory)
    return tuple(Shape(units, one.cpus, one.megabytes) for units in [1] * 14 + [2] * 3 + [3] * 2 + [4])


def others(shapes):
    """These as jobs of the partition that Slurm's backfill schedules."""
    return [replace(shape, further=("--partition=batch",)) for shape in shapes]


def with_devices(shapes):
    """A tenth of them with a device each."""
    return [replace(shape, further=("--gres=gpu:1",)) if index % 10 == 0 else shape for index, shape in enumerate(shapes)]
