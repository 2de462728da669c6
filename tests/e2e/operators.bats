#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What operators do to jobs in every phase, and to partitions.
# shellcheck disable=SC2154 # parked_job and preempting_job are in helpers.bash

load helpers

teardown() {
	controller scontrol update partition=main nodes=ALL
	clean_up
}

operator_has() { says "$1" "suspended by an operator"; }
# The job stays in this state for six seconds, though there is room.
stays() {
	for _ in 1 2 3 4 5 6; do
		[ "$(state "$1")" = "$2" ]
		sleep 1
	done
}
memory_of() { controller scontrol --oneliner show node "$1" | grep -o 'AllocMem=[0-9]*' | cut -d= -f2; }
parked_on() { [ "$(node_job "$1" "$2" parked)" = True ]; }
counts() { [ "$(memory_of "$1")" = "$2" ]; }

@test "running job keeps its memory when an operator suspends it, and runs on when resumed" {
	job=$(submit --nodelist=n1 --ntasks=1 --mem=800 --time=20 -- "$until_finished; echo ended")
	wait_for_state "$job" RUNNING 30
	sleep 1
	controller scontrol suspend "$job"
	waits=$(submit --nodelist=n1 --ntasks=1 --mem=800 --time=20 -- "true")
	wait_until 10 operator_has "$job"
	stays "$job" SUSPENDED
	[ "$(state "$waits")" = PENDING ]
	counts n1 800
	controller scontrol resume "$job"
	wait_for_state "$job" RUNNING 5
	finish "$job"
	wait_for_state "$job" COMPLETED 60
	wait_for_state "$waits" COMPLETED 60
	[ "$(output "$job")" = ended ]
}

@test "parked job stays suspended when an operator suspends it, until resumed" {
	needs_parking
	park_for "$until_finished" --nodelist=n1 --ntasks=1 --mem=800 --time=20 -- "$until_finished; echo ended"
	controller scontrol suspend "$parked_job"
	wait_until 10 operator_has "$parked_job"
	finish "$preempting_job"
	wait_for_state "$preempting_job" COMPLETED 60
	stays "$parked_job" SUSPENDED
	# What is parked has given its memory up: others have it.
	counts n1 0
	controller scontrol resume "$parked_job"
	wait_for_state "$parked_job" RUNNING 30
	stays "$parked_job" RUNNING
	finish "$parked_job"
	wait_for_state "$parked_job" COMPLETED 60
	[ "$(output "$parked_job")" = ended ]
}

# slurmctld sends a resume only once, and retries for ten seconds. dfrsd is stopped until Slurm has
# frozen the job: it would thaw what it froze itself.
@test "resume is repeated when a node of the job misses it" {
	needs_parking
	job=$(submit --nodelist=n1,n2 --nodes=2 --ntasks=2 --mem=800 --time=20 -- "srun sh -c '$until_finished; echo ended'")
	wait_for_state "$job" RUNNING 30
	in_cluster n2 pkill -STOP -x dfrsd
	other=$(submit --nodelist=n1 --ntasks=1 --mem=800 --time=20 --comment=dfrs:never -- "sleep 8")
	wait_for_state "$job" SUSPENDED 20
	sleep 4
	in_cluster n2 pkill -CONT -x dfrsd
	wait_for_state "$other" RUNNING 40
	in_cluster n2 /opt/cluster/service slurmd kill
	wait_for_state "$job" RUNNING 60
	sleep 12
	in_cluster n2 /opt/cluster/service slurmd start
	finish "$job"
	wait_for_state "$job" COMPLETED 120
	[ "$(output "$job" | grep -c ended)" = 2 ]
}

@test "parked job resumes when it is held" {
	needs_parking
	park_for "$until_finished" --nodelist=n1 --ntasks=1 --mem=800 --time=20 -- "$until_finished; echo ended"
	controller scontrol hold "$parked_job"
	finish "$preempting_job"
	wait_for_state "$preempting_job" COMPLETED 60
	wait_for_state "$parked_job" RUNNING 30
	finish "$parked_job"
	wait_for_state "$parked_job" COMPLETED 60
	[ "$(output "$parked_job")" = ended ]
}

@test "parked job resumes before other jobs start when an operator resumes it and its memory is free" {
	needs_parking
	job=$(submit --nodelist=n1 --ntasks=1 --mem=800 --time=20 -- "$until_finished; echo ended")
	wait_for_state "$job" RUNNING 30
	other=$(submit --nodelist=n1 --ntasks=1 --mem=800 --time=20 --comment=dfrs:never -- "$until_finished")
	wait_for_state "$other" RUNNING 40
	later=$(submit --nodelist=n1 --ntasks=1 --mem=800 --time=20 --comment=dfrs:never -- "true")
	controller scontrol resume "$job"
	wait_until 10 says "$job" "resumed by an operator"
	# slurmd may receive the resume after the suspend that follows: the job is parked again anyway.
	wait_until 15 parked_on n1 "$job"
	[ "$(state "$other")" = RUNNING ]
	counts n1 800
	finish "$other"
	wait_for_state "$other" COMPLETED 60
	wait_for_state "$job" RUNNING 20
	[ "$(state "$later")" = PENDING ]
	finish "$job"
	wait_for_state "$job" COMPLETED 90
	wait_for_state "$later" COMPLETED 60
	[ "$(output "$job")" = ended ]
}

@test "job runs on when it is resumed while it is being parked, and the other one waits" {
	needs_parking
	job=$(submit --nodelist=n3 --ntasks=1 --mem=900 --time=20 -- "$burn --work 9 --rate $rate --memory 400")
	wait_for_state "$job" RUNNING 30
	other=$(submit --nodelist=n3 --ntasks=1 --mem=900 --time=20 -- "true")
	wait_for_state "$job" SUSPENDED 20
	controller scontrol resume "$job"
	# Parked by then or not: its memory is given away once, and each job is done once.
	wait_for_state "$job" COMPLETED 120
	wait_for_state "$other" COMPLETED 60
	[ "$(controller scontrol show job "$job" | grep -o 'Restarts=[0-9]*')" = Restarts=0 ]
	controller dfrs check /var/log/slurm/dfrs-journal.jsonl
}

@test "job on its way back stays suspended when an operator suspends it, until resumed" {
	needs_parking
	park_for "$until_finished" --nodelist=n3 --ntasks=1 --mem=900 --time=20 -- "$(holding 300)"
	finish "$preempting_job"
	wait_for_state "$preempting_job" COMPLETED 60
	# An operator may suspend a job that is being resumed, or has been.
	wait_for_state "$parked_job" RUNNING 30
	controller scontrol suspend "$parked_job"
	wait_until 10 operator_has "$parked_job"
	stays "$parked_job" SUSPENDED
	finish "$parked_job"
	controller scontrol resume "$parked_job"
	wait_for_state "$parked_job" COMPLETED 60
}

@test "job pending in two partitions starts in the one that takes it" {
	open_partition brief n1 'n[2-4]' 5
	long=$(submit --partition=brief,main --ntasks=1 --mem=50 --time=20 -- "hostname")
	short=$(submit --partition=brief,main --ntasks=1 --mem=50 --time=2 -- "hostname")
	wait_for_state "$long" COMPLETED 30
	wait_for_state "$short" COMPLETED 30
	[ "$(output "$long")" != n1 ]
	[ "$(output "$short")" = n1 ]
	controller scontrol update partition=brief state=down
	short=$(submit --partition=brief,main --ntasks=1 --mem=50 --time=2 -- "hostname")
	wait_for_state "$short" COMPLETED 30
	[ "$(output "$short")" != n1 ]
	close_partition brief
}

@test "pending, parked and running jobs follow when held, released and requeued" {
	needs_parking
	park_for "$until_finished" --nodelist=n1 --ntasks=1 --mem=800 --time=20 -- "echo began; $until_finished; echo ended"
	waits=$(submit --nodelist=n1 --ntasks=1 --mem=800 --time=20 --hold -- "true")
	controller scontrol requeue "$parked_job"
	wait_for_state "$parked_job" PENDING 20
	finish "$preempting_job" "$parked_job"
	wait_for_state "$preempting_job" COMPLETED 60
	wait_for_state "$parked_job" COMPLETED 90
	# The second time from the beginning, and once.
	[ "$(output "$parked_job" | grep -cx began)" = 2 ]
	[ "$(output "$parked_job" | grep -cx ended)" = 1 ]
	[ "$(state "$waits")" = PENDING ]
	controller scontrol release "$waits"
	wait_for_state "$waits" COMPLETED 30
	job=$(submit --nodelist=n1 --ntasks=1 --mem=100 --time=20 -- "sleep 60")
	wait_for_state "$job" RUNNING 20
	sleep 1
	controller scontrol requeuehold "$job"
	wait_for_state "$job" PENDING 30
	stays "$job" PENDING
}

@test "node keeps its jobs, parked ones too, when it leaves the partition, and gets no new ones" {
	needs_parking
	park_for "$until_finished" --nodelist=n2 --ntasks=1 --mem=800 --time=20 -- "$until_finished; echo ended"
	controller scontrol update partition=main nodes=n1,n3,n4
	later=$(submit --ntasks=1 --mem=800 --time=20 -- "hostname")
	wait_for_state "$later" COMPLETED 30
	[ "$(output "$later")" != n2 ]
	[ "$(state "$parked_job")" = SUSPENDED ]
	finish "$preempting_job"
	wait_for_state "$preempting_job" COMPLETED 60
	wait_for_state "$parked_job" RUNNING 40
	finish "$parked_job"
	wait_for_state "$parked_job" COMPLETED 60
	[ "$(output "$parked_job")" = ended ]
	wait_until 20 counts n2 0
	controller scontrol update partition=main nodes=ALL
	back=$(submit --nodelist=n2 --ntasks=1 --mem=800 --time=20 -- "hostname")
	wait_for_state "$back" COMPLETED 40
}

@test "job on two nodes is parked on both or not at all when one leaves the partition" {
	job=$(submit --nodelist=n1,n2 --nodes=2 --ntasks=2 --mem=800 --time=20 -- "srun $burn --work 14 --rate $rate --memory 200")
	wait_for_state "$job" RUNNING 30
	sleep 7
	controller scontrol update partition=main nodes=n1,n3,n4
	other=$(submit --nodelist=n1 --ntasks=1 --mem=800 --time=20 -- "sleep 5")
	wait_for_state "$other" COMPLETED 90
	for node in n1 n2; do
		[ "$(memory_of $node)" = 800 ] || [ "$(memory_of $node)" = 0 ]
	done
	wait_for_state "$job" COMPLETED 120
	wait_until 20 nothing_is_counted
	controller dfrs check /var/log/slurm/dfrs-journal.jsonl
}

@test "parked job that gives up a node resumes on the other one, and delays no other job" {
	needs_parking
	park_for "$until_finished" --nodelist=n1,n2 --nodes=2 --ntasks=2 --mem=800 --time=20 -- "$until_finished; echo ended"
	controller scontrol update jobid="$parked_job" numnodes=1
	other=$(submit --nodelist=n3 --ntasks=1 --mem=100 --time=20 -- "true")
	wait_for_state "$other" COMPLETED 40
	finish "$preempting_job"
	wait_for_state "$preempting_job" COMPLETED 60
	wait_for_state "$parked_job" RUNNING 40
	[ "$(nodes_of "$parked_job")" = n1 ]
	later=$(submit --nodelist=n3 --ntasks=1 --mem=100 --time=20 -- "true")
	wait_for_state "$later" COMPLETED 40
	finish "$parked_job"
	wait_for_state "$parked_job" COMPLETED 60
	[ "$(output "$parked_job" | grep -cx ended)" = 1 ]
	wait_until 20 nothing_is_counted
}
