#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs on the controller as root: submits the moldable workload of standard input, one after the other.
#
# moldable-submit.sh RUN: lines "name priority minutes nodes speedup seconds-on-1-node seconds-on-2-nodes ..." on
# standard input. Adds "TIME NAME JOBID" to RUN/submitted.

set -euo pipefail
run=$1

mkdir -p "$run"
chmod 1777 "$run"
while read -r name priority minutes nodes speedup times; do
	time=$EPOCHREALTIME
	# Only administrators choose a priority.
	id=$(RUN="$run" TIMES="$times" sbatch --parsable --uid=alice --gid=alice --priority "$priority" \
		--job-name "$name" --output "$run/$name.out" --chdir "$run" --time "$minutes" --nodes "$nodes" \
		--mem=100 --comment "$speedup" /opt/demo/moldable-job.sh </dev/null) || id=refused
	echo "$time $name $id" >>"$run/submitted"
done
