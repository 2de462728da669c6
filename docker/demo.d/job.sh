#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The batch script of every job of the demo: runs its tasks and notes when it began and ended.
#
# In the environment: RUN (directory of this run), WORK, MEMORY, MOBILITY (columns of the workload),
# CORE_PER_CPU (what one of Slurm's CPUs is in cores of this machine).

name=$RUN/$SLURM_JOB_NAME${SLURM_ARRAY_TASK_ID:+.$SLURM_ARRAY_TASK_ID}
cpus=${SLURM_CPUS_PER_TASK:-1}
rate=$(awk "BEGIN { print $cpus * $CORE_PER_CPU }")
options=(--work "$WORK" --rate "$rate" --memory "$MEMORY" --report "$name.task%t")
[ "$MOBILITY" != checkpoint ] || options+=(--checkpoint "$name.task%t.checkpoint")

echo "$EPOCHREALTIME begin $SLURM_JOB_ID ${SLURM_RESTART_COUNT:-0} $SLURM_JOB_NODELIST $SLURM_TASKS_PER_NODE" >>"$name.job"
launcher=(srun --quiet "--cpus-per-task=$cpus")
# A job with a step cannot be carried.
[ "$MOBILITY" != carry ] || launcher=()
"${launcher[@]}" dfrs-burn "${options[@]}"
status=$?
echo "$EPOCHREALTIME end $SLURM_JOB_ID ${SLURM_RESTART_COUNT:-0} $status" >>"$name.job"
exit $status
