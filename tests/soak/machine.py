# SPDX-License-Identifier: GPL-2.0-or-later
"""What of this machine a node's jobs get: many nodes are many parts of the same two cores and memory."""

from cluster import CORE_PER_CPU, NODES
from workload import NODE_CPUS

# A node's quota in compose.yaml, in cores.
QUOTA = 0.44
# Hardly ever do all jobs of many nodes compute in the same moment.
OVERCOMMITMENT = 2


class Machine:
    def __init__(self, nodes):
        parts = nodes / len(NODES)
        # What one of Slurm's CPUs is in cores.
        self.core_per_cpu = min(CORE_PER_CPU, OVERCOMMITMENT * CORE_PER_CPU / parts)
        # Of a node's quota what its jobs do not get.
        self.reserve = QUOTA - NODE_CPUS * self.core_per_cpu
        # The part of its requested memory that a job touches.
        self.memory = min(1.0, OVERCOMMITMENT / parts)
