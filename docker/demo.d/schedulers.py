# SPDX-License-Identifier: GPL-2.0-or-later
"""What the demo compares, by the names of docker/up, and where jobs are submitted there."""

from model import MIN_WORK, TIME_SCALE
from workload import LIMIT_FACTOR

DEFAULT = ("backfill-whole", "backfill-shared", "dfrs")
# What sites do in Slurm itself so that short jobs need not wait.
OPPONENTS = ("backfill-force4", "backfill-suspend")
# A user's limit, in seconds, up to which a job is short: an hour of the model, or that of the shortest jobs here.
MAX_SHORT = max(3600 / TIME_SCALE, MIN_WORK * LIMIT_FACTOR)


def options(scheduler, row):
    """Of sbatch, beside the row's own. Limits of Slurm are whole minutes: the partition says which jobs are short."""
    if scheduler == "backfill-suspend" and row.limit <= MAX_SHORT:
        return " --partition=short"
    return ""
