#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A TaskProlog for nodes of DFRS (slurm.conf: TaskProlog=/etc/slurm/task-prolog.sh; it may be a line of your own):
# programs that count CPUs, as nproc and OpenMP, find as many as a task asked for, and not the whole node.
# slurmstepd puts "export NAME=value" into the environment of the task; a user's own OMP_NUM_THREADS stays.

# The partitions of dfrs.conf, with blanks between them; empty: all.
partitions=""

case " ${partitions:-$SLURM_JOB_PARTITION} " in
*" $SLURM_JOB_PARTITION "*) ;;
*) exit 0 ;;
esac

threads=${SLURM_CPUS_PER_TASK:-1}
# A step inherits what was set here for its job's script, and may have another -c.
if [ -z "$OMP_NUM_THREADS" ] || [ "$OMP_NUM_THREADS" = "$DFRS_THREADS" ]; then
	echo "export OMP_NUM_THREADS=$threads"
	echo "export DFRS_THREADS=$threads"
fi
