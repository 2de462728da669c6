#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# DFRS for one of two partitions, and all of Slurm's own scheduling for the other: docker/conf/beside.conf,
# with burst_buffer_dfrs.so. tests/beside compares the times.
# shellcheck disable=SC2154 # until_finished is in helpers.bash

load helpers

setup_file() { schedule_beside; }

teardown_file() { schedule_alone; }

teardown() {
	controller sed -i 's/^Mode=.*/Mode=full/' /etc/slurm/dfrs.conf
	clean_up
}

# submit_hetjob PARTITION PARTITION -- COMMAND: a heterogeneous job of two components, one task each; no partition is
# named for "default". Prints the id of the first one.
submit_hetjob() {
	local components=() partition
	for partition in "$1" "$2"; do
		[ ${#components[@]} = 0 ] || components+=(:)
		components+=(--ntasks=1 --mem=50 --time=5)
		[ "$partition" = default ] || components+=("--partition=$partition")
	done
	submit "${components[@]}" "${@:3}"
}

# of_each JOB FORMAT: of all components of a heterogeneous job, different values once.
of_each() { controller squeue --noheader --states=all --jobs "$1" --format "$2" | sort -u; }
each_is() { [ "$(of_each "$1" %T)" = "$2" ]; }

# runs_hetjob PARTITION PARTITION: on two nodes of batch, with a step on both.
runs_hetjob() {
	local job
	job=$(submit_hetjob "$1" "$2" -- "srun --het-group=0,1 hostname")
	wait_until 90 each_is "$job" COMPLETED
	[ "$(output "$job" | sort | xargs)" = "n3 n4" ]
}

# refuses_hetjob PARTITION PARTITION
refuses_hetjob() {
	run submit_hetjob "$1" "$2" -- true
	[ "$status" != 0 ]
	[[ $output == *"DFRS: heterogeneous jobs do not run in partition main"* ]]
}

# in_mode MODE: DFRS in another mode.
in_mode() {
	controller sed -i "s/^Mode=.*/Mode=$1/" /etc/slurm/dfrs.conf
	if [ "$1" = off ]; then reconfigure; else reconfigured; fi
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

@test "heterogeneous job runs in another partition, also when slurmctld is restarted or killed" {
	[[ "$(controller scontrol show config | grep ^SchedulerType)" == *sched/dfrs ]]
	runs_hetjob batch batch
	job=$(submit_hetjob batch batch -- "sleep 40; srun --het-group=0,1 hostname")
	wait_until 90 each_is "$job" RUNNING
	wait_until_saved "$job"
	controller /opt/cluster/service slurmctld kill
	controller /opt/cluster/service slurmctld start
	wait_until 20 each_is "$job" RUNNING
	ready=$(times_ready)
	controller /opt/cluster/service slurmctld restart
	wait_until 60 was_ready_more_often_than "$ready"
	wait_until 20 each_is "$job" RUNNING
	wait_until 90 each_is "$job" COMPLETED
	[ "$(output "$job" | sort | xargs)" = "n3 n4" ]
	run in_cluster controller -u alice -- srun --partition=batch --ntasks=1 --mem=50 hostname : --partition=batch --ntasks=1 --mem=50 hostname
	[ "$status" = 0 ]
	[[ $output == *n3* && $output == *n4* ]]
}

@test "heterogeneous job with a component for the DFRS partition is refused, and its user learns why" {
	refuses_hetjob batch main
	refuses_hetjob main batch
	refuses_hetjob batch default
	run in_cluster controller -u alice -- salloc --partition=batch --ntasks=1 --mem=50 : --ntasks=1 --mem=50 true
	[ "$status" != 0 ]
	[[ $output == *"DFRS: heterogeneous jobs do not run in partition main"* ]]
	# Where the other partition takes it, backfill starts it there.
	runs_hetjob batch main,batch
}

@test "heterogeneous jobs run in all partitions when the mode is shadow or off" {
	in_mode shadow
	runs_hetjob batch batch
	job=$(submit_hetjob main batch -- "srun --het-group=0,1 hostname")
	wait_until 90 each_is "$job" COMPLETED
	[ "$(output "$job" | grep -c '^n')" = 2 ]
	in_mode off
	runs_hetjob batch batch
	in_mode full
}

@test "heterogeneous job that waits when its partition becomes one of DFRS's says so, and others start" {
	in_mode shadow
	first=$(submit --partition=batch --nodes=2 --ntasks=2 --mem=50 --exclusive -- "$until_finished")
	wait_for_state "$first" RUNNING 90
	job=$(submit_hetjob main batch -- "srun --het-group=0,1 hostname")
	in_mode full
	is_refused() { says "$job" "DFRS: does not start jobs that ask for several components"; }
	wait_until 20 is_refused
	is_explained() { says "$job" "DFRS: waits for component $job+0, which does not start in partition main"; }
	wait_until 90 is_explained
	# Both nodes: nothing is kept free for the other component.
	later=$(submit --partition=batch --nodes=2 --ntasks=2 --mem=50 --exclusive -- "true")
	finish "$first"
	wait_for_state "$later" COMPLETED 120
	each_is "$job" PENDING
	controller scontrol update "jobid=$job+0" partition=batch
	wait_until 90 each_is "$job" COMPLETED
}

@test "journal is valid when DFRS has a part of the nodes" {
	controller dfrs check /var/log/slurm/dfrs-beside.jsonl
}
