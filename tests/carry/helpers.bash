# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What the tests of carried jobs share.

# shellcheck source=../e2e/helpers.bash
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/helpers.bash"

# Of these tests' jobs.
name=below-the-carrier

teardown() {
	controller scancel --user=alice --name=$name
	wait_until 30 queue_is_empty
}

# shellcheck disable=SC2317 # for wait_until
queue_is_empty() { [ -z "$(controller squeue --noheader --name=$name)" ]; }

# Where no job can be carried.
make_partition_plain() {
	controller scontrol show partition plain >/dev/null 2>&1 ||
		controller scontrol create partitionname=plain "nodes=n[1-4]" state=up maxtime=60 oversubscribe=no
}

# submit_one SBATCH-OPTIONS... -- COMMAND: prints the id of a job that goes with its test.
submit_one() { submit --job-name=$name "$@"; }

# run_job SBATCH-OPTIONS... -- COMMAND: prints the id when the job has ended.
run_job() {
	local job
	job=$(submit_one "$@")
	wait_until 60 has_ended "$job" >&2 || return
	echo "$job"
}

has_ended() { [[ $(state "$1") =~ ^(COMPLETED|FAILED|CANCELLED|TIMEOUT|OUT_OF_MEMORY|NODE_FAIL)$ ]]; }
prints() { output "$1" 2>/dev/null | grep -qE "$2"; }
exit_code() { controller scontrol show job "$1" | grep -oE '\bExitCode=[0-9:]+'; }

# submit_and_wait TEXT SBATCH-OPTIONS... -- COMMAND: prints the id when the output has that text.
submit_and_wait() {
	local job text=$1
	shift
	job=$(submit_one "$@")
	wait_until 30 prints "$job" "$text" >&2 || return
	echo "$job"
}

# requeue_now JOB: it begins again at once. Not within the second in which it was ended: slurmd takes a start on
# the same node for that of the job that was killed.
requeue_now() {
	controller scontrol requeue "$1"
	wait_for_state "$1" PENDING 20
	sleep 2
	controller scontrol update "jobid=$1" starttime=now
}

# Processes of alice's on a node.
processes() { in_cluster "$1" pgrep -u alice -l || true; }
nothing_is_left() { [ -z "$(processes "$1")" ]; }
