#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# expect: carried
# Steps before and after the time in which it can be carried; while one runs, it is refused. Their numbers begin at 0
# again with each requeue.

# shellcheck disable=SC2016 # variables of inner shells
echo "before: $(srun -n1 sh -c 'echo $SLURM_JOB_NAME, task $SLURM_PROCID')"
for step in $(seq 24); do
	echo "$step"
	sleep 0.5
done
echo "after: $(srun -n1 sh -c 'echo $SLURM_JOB_NAME, task $SLURM_PROCID')"
srun -n1 sh -c 'exit 4' 2>/dev/null
