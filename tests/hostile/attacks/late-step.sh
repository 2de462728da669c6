#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A step is created while the job runs, and launched when it is parked: srun is stopped in between. The step's memory
# would come on top of what others were given.
python3 "$HOSTILE/memory.py" hold 40 &
# shellcheck disable=SC2016 # expanded by the step
srun --overlap --ntasks=1 --mem=0 bash -c 'python3 "$HOSTILE/memory.py" touch $((MEMORY - 60))' &
srun=$!
# Until slurmctld has made the step.
until squeue --noheader --steps --jobs="$SLURM_JOB_ID" | grep -q "$SLURM_JOB_ID.0"; do :; done
kill -STOP $srun
touch "$WORK/stopped.$SLURM_JOB_ID"
# Not of the job's own: that is frozen with it.
wait
