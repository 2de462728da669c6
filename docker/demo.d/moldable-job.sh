#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The batch script of every job of docker/demo --moldable: takes as long as TIMES says for the number of nodes that
# it has, on all of them, and notes when it began and ended and where its tasks were.
#
# In the environment: RUN (directory of this run), TIMES (seconds on 1, 2, ... nodes).

name=$RUN/$SLURM_JOB_NAME
read -ra seconds_on <<<"$TIMES"
seconds=${seconds_on[$((SLURM_JOB_NUM_NODES - 1))]}
echo "$EPOCHREALTIME begin $SLURM_JOB_NUM_NODES" >>"$name.job"
export name seconds
# shellcheck disable=SC2016 # expanded by each task
srun --quiet bash -c 'echo "$EPOCHREALTIME task $SLURMD_NODENAME" >>"$name.job"; sleep "$seconds"'
status=$?
echo "$EPOCHREALTIME end $status" >>"$name.job"
exit $status
