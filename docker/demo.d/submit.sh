#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs on the controller as root: submits the workload of standard input at its times.
#
# submit.sh RUN CORE_PER_CPU: lines "label at user work memory mobility minutes option..."
# on standard input. Adds "TIME LABEL JOBID" to RUN/submitted, and "TIME end -" when all is submitted.

set -euo pipefail
run=$1 core_per_cpu=$2

now_ms() { echo $((${EPOCHREALTIME/[.,]/} / 1000)); }

# The options of a job that keeps its progress: warned by SIGUSR1, its output kept over a restart.
options_of_mobility() {
	[ "$1" = checkpoint ] && echo "--signal=USR1@5"
	echo "--comment=dfrs:$1 --open-mode=append"
}

submit() {
	local label=$1 user=$2 work=$3 memory=$4 mobility=$5 minutes=$6 id time=$EPOCHREALTIME
	shift 6
	# shellcheck disable=SC2046 # several words
	id=$(runuser -u "$user" -- env RUN="$run" WORK="$work" MEMORY="$memory" MOBILITY="$mobility" \
		CORE_PER_CPU="$core_per_cpu" \
		sbatch --parsable --job-name "$label" --output "$run/$label.%a.out" --chdir "$run" \
		--time "$minutes" $(options_of_mobility "$mobility") "$@" /opt/demo/job.sh) || id=refused
	echo "$time $label $id" >>"$run/submitted"
}

mkdir -p "$run"
chmod 1777 "$run"
begin=$(now_ms)
while read -r label at user work memory mobility minutes options; do
	wait_ms=$((begin + at * 1000 - $(now_ms)))
	[ $wait_ms -le 0 ] || sleep "$((wait_ms / 1000)).$(printf %03d $((wait_ms % 1000)))"
	# shellcheck disable=SC2086 # the options are words
	submit "$label" "$user" "$work" "$memory" "$mobility" "$minutes" $options </dev/null
done
echo "$EPOCHREALTIME end -" >>"$run/submitted"
