#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What an administrator does to nodes on which jobs are parked, or that are reserved.
# shellcheck disable=SC2154 # parked_job and preempting_job are in helpers.bash

load helpers

teardown() {
	controller scontrol delete reservationname=upkeep 2>/dev/null || true
	controller scontrol delete reservationname=course 2>/dev/null || true
	controller scontrol update nodename=n1 state=resume 2>/dev/null || true
	clean_up
}

node_is() { [ "$(controller sinfo --noheader --nodes="$1" --format=%T)" = "$2" ]; }

@test "draining node waits for its parked job, which resumes before other jobs start" {
	needs_parking
	park_for "$until_finished" --nodelist=n1 --ntasks=1 --mem=800 --time=20 -- "$until_finished"
	controller scontrol update nodename=n1 state=drain reason=upkeep
	wait_until 20 logs "parked there are JobId=$parked_job"
	wait_until 40 says "$parked_job" "parked on n1, which is draining"
	later=$(submit --nodelist=n1 --ntasks=1 --mem=800 --time=20 -- "true")
	finish "$preempting_job"
	wait_for_state "$preempting_job" COMPLETED 60
	wait_for_state "$parked_job" RUNNING 40
	[ "$(state "$later")" = PENDING ]
	finish "$parked_job"
	wait_for_state "$parked_job" COMPLETED 120
	wait_until 30 node_is n1 drained
	controller scontrol update nodename=n1 state=resume
	wait_for_state "$later" COMPLETED 60
}

reason_of() { controller sinfo --noheader --nodes="$1" --format=%E; }
has_reason() { [ "$(reason_of "$1")" = "$2" ]; }

@test "reason of a draining node counts its parked jobs when an administrator changes it" {
	needs_parking
	park_for "$until_finished" --nodelist=n1 --ntasks=1 --mem=800 --time=20 -- "$until_finished"
	controller scontrol update nodename=n1 state=drain reason=upkeep
	wait_until 20 has_reason n1 "upkeep [DFRS: 1 parked]"
	controller scontrol update nodename=n1 reason="disk swap"
	wait_until 20 has_reason n1 "disk swap [DFRS: 1 parked]"
	finish "$preempting_job" "$parked_job"
	wait_for_state "$parked_job" COMPLETED 120
	wait_until 30 has_reason n1 "disk swap"
	wait_until 30 node_is n1 drained
}

# reboots NODE: how many times it has rebooted. See docker/node/reboot.
reboots() { in_cluster "$1" sh -c 'cat /var/log/slurm/reboots 2>/dev/null | wc -l'; }

@test "node reboots as soon as its parked jobs have ended" {
	needs_parking
	# Slurm 22.05 counts a suspended job twice when it is reconfigured (docs/maintenance.md), as tests
	# before did. A restart counts again.
	ready=$(times_ready)
	controller /opt/cluster/service slurmctld restart
	wait_until 60 was_ready_more_often_than "$ready"
	wait_for_idle_nodes 60
	park_for "$until_finished" --nodelist=n1 --ntasks=1 --mem=800 --time=20 -- "$until_finished"
	before=$(reboots n1)
	controller scontrol reboot ASAP nextstate=resume reason=kernel n1
	wait_until 20 logs "parked there are JobId=$parked_job"
	later=$(submit --nodelist=n1 --ntasks=1 --mem=800 --time=20 -- "true")
	finish "$preempting_job"
	wait_for_state "$preempting_job" COMPLETED 60
	wait_for_state "$parked_job" RUNNING 40
	[ "$(reboots n1)" = "$before" ]
	finish "$parked_job"
	wait_for_state "$parked_job" COMPLETED 120
	wait_for_state "$later" COMPLETED 120
	[ "$(reboots n1)" = $((before + 1)) ]
	wait_until 30 node_is n1 idle
}

was_requeued() { controller scontrol show job "$1" | grep -q 'Restarts=1'; }

@test "node that is set down and resumed loses its parked jobs, and nothing more" {
	needs_parking
	park_for "$until_finished" --nodelist=n1 --ntasks=1 --mem=800 --time=20 -- "$until_finished; echo done"
	controller scontrol update nodename=n1 state=down reason=test
	# It may have come back by itself: it answers.
	controller scontrol update nodename=n1 state=resume || true
	wait_until 20 was_requeued "$preempting_job"
	wait_until 20 was_requeued "$parked_job"
	# Else what is being killed there may finish as well.
	wait_until 20 in_cluster n1 sh -c '! pgrep -u alice'
	finish "$preempting_job" "$parked_job"
	wait_for_state "$parked_job" COMPLETED 120
	wait_for_state "$preempting_job" COMPLETED 120
	[ "$(output "$parked_job" | grep -cx "done")" = 1 ]
	wait_until 30 node_is n1 idle
}

@test "job is paused for a reservation, and resumes when it is over" {
	needs_parking
	job=$(submit --nodelist=n1 --ntasks=1 --mem=300 --time=30 -- "$until_finished")
	wait_for_state "$job" RUNNING 20
	controller scontrol create reservation reservationname=upkeep starttime=now+2minutes \
		duration=30 nodes=n1 flags=maint,ignore_jobs user=root
	wait_for_state "$job" SUSPENDED 40
	wait_until 40 says "$job" "its nodes are reserved for others"
	waits=$(submit --nodelist=n1 --ntasks=1 --mem=100 --time=30 -- "true")
	wait_until 20 says "$waits" "a Slurm reservation is there, or begins"
	[ "$(state "$job")" = SUSPENDED ]
	controller scontrol delete reservationname=upkeep
	wait_for_state "$job" RUNNING 40
	finish "$job"
	wait_for_state "$waits" COMPLETED 60
}

@test "jobs of a maintenance reservation start in it, and others do not" {
	controller scontrol create reservation reservationname=upkeep starttime=now duration=30 \
		nodes=n1 flags=maint,ignore_jobs users=root,alice
	inside=$(submit --reservation=upkeep --ntasks=1 --mem=50 --time=20 -- "true")
	waits=$(submit --nodelist=n1 --ntasks=1 --mem=50 --time=20 -- "true")
	wait_for_state "$inside" COMPLETED 40
	[ "$(nodes_of "$inside")" = n1 ]
	wait_until 20 says "$waits" "a Slurm reservation is there, or begins"
	controller scontrol delete reservationname=upkeep
	wait_for_state "$waits" COMPLETED 60
}

@test "job that names two reservations starts in that which has the memory free" {
	controller scontrol create reservation reservationname=upkeep starttime=now duration=30 nodes=n1 users=root,alice
	controller scontrol create reservation reservationname=course starttime=now duration=30 nodes=n3 users=root,alice
	fills=$(submit --reservation=upkeep --ntasks=1 --mem=800 --time=20 -- "$until_finished")
	wait_for_state "$fills" RUNNING 40
	# shellcheck disable=SC2016 # expanded by the job
	job=$(submit --reservation=upkeep,course --ntasks=1 --mem=800 --time=20 -- 'echo "$SLURM_JOB_RESERVATION"')
	wait_for_state "$job" COMPLETED 40
	[ "$(nodes_of "$job")" = n3 ]
	[ "$(output "$job")" = course ]
	[ "$(state "$fills")" = RUNNING ]
	finish "$fills"
	wait_for_state "$fills" COMPLETED 40
	# No job of theirs is to be left when they are deleted.
	controller scontrol delete reservationname=upkeep
	controller scontrol delete reservationname=course
}

@test "job overlapping a floating reservation runs elsewhere, and no start on its node is refused" {
	controller scontrol create reservation reservationname=upkeep starttime=now+30minutes duration=60 \
		nodes=n1 users=root flags=TIME_FLOAT
	refusals=$(controller_log | grep -c "was refused" || true)
	waits=$(submit --nodelist=n1 --ntasks=1 --mem=50 --time=40 -- "true")
	wide=$(submit --nodes=3 --ntasks=12 --mem=50 --time=40 -- "srun true")
	short=$(submit --nodelist=n1 --ntasks=1 --mem=50 --time=20 -- "true")
	wait_for_state "$wide" COMPLETED 40
	wait_for_state "$short" COMPLETED 40
	[[ "$(nodes_of "$wide")" != *n1* && "$(nodes_of "$wide")" != *"[1"* ]]
	wait_until 20 says "$waits" "a Slurm reservation is there, or begins"
	[ "$(controller_log | grep -c "was refused" || true)" = "$refusals" ]
	controller scontrol delete reservationname=upkeep
	wait_for_state "$waits" COMPLETED 60
}

@test "reservation of a core keeps off only jobs that need all of its node" {
	controller scontrol create reservation reservationname=upkeep starttime=now duration=60 nodes=n1 \
		corecnt=1 users=root
	beside=$(submit --nodelist=n1 --ntasks=2 --nodes=1 --mem=50 --time=20 -- "true")
	wait_for_state "$beside" COMPLETED 40
	whole=$(submit --nodelist=n1 --ntasks=1 --exclusive --mem=50 --time=20 -- "true")
	wait_until 20 says "$whole" "a Slurm reservation is there, or begins"
	controller scontrol delete reservationname=upkeep
	wait_for_state "$whole" COMPLETED 60
}

@test "job that DFRS does not start shows its reason" {
	job=$(submit --ntasks=4 --mem=50 --nodes=2 --distribution=plane=2 -- "true")
	wait_until 20 says "$job" "-m plane"
	# From Slurm 24.05 on.
	controller sbatch --help | grep -q -- --segment || return 0
	controller scancel "$job"
	job=$(submit --nodes=2 --segment=1 --mem=50 -- "true")
	wait_until 20 says "$job" "nodes in segments (--segment)"
}

@test "job ends at its deadline" {
	job=$(submit --ntasks=1 --mem=50 --deadline=now+90 -- "sleep 300")
	wait_for_state "$job" RUNNING 20
	[ "$(controller squeue --noheader --jobs "$job" --format=%l)" = 1:00 ]
}
