#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# DFRS for one of two partitions, and all of Slurm's own scheduling for the other: docker/conf/beside.conf,
# with burst_buffer_dfrs.so. tests/beside compares the times.

load helpers

# with_scheduler FILE: restarts slurmctld with this scheduler.conf.
with_scheduler() {
	local ready
	ready=$(times_ready)
	controller sh -c "cp $1 /etc/slurm/scheduler.conf && /opt/cluster/service slurmctld restart"
	wait_until 60 was_ready_more_often_than "$ready"
	wait_for_idle_nodes 60
}

# A journal of its own: DFRS has other nodes here, and a journal keeps to those that it began with.
setup_file() {
	controller cp /etc/slurm/scheduler.conf /etc/slurm/scheduler.conf.before
	controller sed -i.before 's#^Journal=.*#Journal=/var/log/slurm/dfrs-beside.jsonl#' /etc/slurm/dfrs.conf
	with_scheduler /opt/conf/beside.conf
}

teardown_file() {
	controller mv /etc/slurm/dfrs.conf.before /etc/slurm/dfrs.conf
	with_scheduler /etc/slurm/scheduler.conf.before
}

teardown() {
	clean_up
}

started_by_dfrs() { controller_log | grep -q "dfrs: Started JobId=$1 "; }

@test "job with --immediate starts at once in another partition, and not by DFRS" {
	run in_cluster controller -u alice -- srun --immediate --partition=batch --ntasks=1 --mem=50 hostname
	[ "$status" = 0 ]
	[[ $output =~ n[34] ]]
	job=$(submit --partition=batch --ntasks=1 --mem=50 -- "sleep 1")
	wait_for_state "$job" COMPLETED 90
	run started_by_dfrs "$job"
	[ "$status" != 0 ]
}

@test "jobs of the DFRS partition are started by DFRS alone while Slurm's main loop runs" {
	jobs=()
	for _ in 1 2 3 4; do
		jobs+=("$(submit --ntasks=1 --mem=700 --comment=dfrs:never -- "sleep 4")")
	done
	jobs+=("$(submit --ntasks=6 --nodelist=n2 --mem-per-cpu=20 -- "srun hostname")")
	run in_cluster controller -u alice -- srun --ntasks=1 --mem=50 hostname
	[ "$status" = 0 ]
	for job in "${jobs[@]}"; do
		wait_for_state "$job" COMPLETED 60
		started_by_dfrs "$job"
	done
}

@test "pending job of the DFRS partition shows the reason of DFRS, not of burst buffers" {
	first=$(submit --ntasks=1 --nodelist=n1 --mem=600 --comment=dfrs:never -- "sleep 60")
	wait_for_state "$first" RUNNING 30
	second=$(submit --ntasks=1 --nodelist=n1 --mem=600 --comment=dfrs:never -- "sleep 1")
	# The end of a job is what the main loop waits for.
	third=$(submit --partition=batch --ntasks=1 --mem=50 -- "true")
	wait_for_state "$third" COMPLETED 90
	shows_memory() { reason "$second" | grep -q 'DFRS: waits for memory'; }
	wait_until 20 shows_memory
	controller scancel "$first"
	wait_for_state "$second" COMPLETED 30
}

@test "journal is valid when DFRS has a part of the nodes" {
	controller dfrs check /var/log/slurm/dfrs-beside.jsonl
}
