#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A hold on the job itself, which Slurm lets its user have while it runs: others are not to take its place.
scontrol hold "$SLURM_JOB_ID"
exec python3 "$HOSTILE/memory.py" hold $((MEMORY - 60))
