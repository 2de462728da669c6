#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Nodes of DFRS's partition that are in another one, too, whose jobs preempt DFRS's for memory: Slurm says which, and
# these leave in their grace time with their work.

load helpers

# preempt_send_user_signal: the name of send_user_signal (PreemptParameters) that 22.05 knows, too.
setup_file() {
	schedule_beside "1aPreemptType=preempt/partition_prio\nPreemptMode=REQUEUE\nSlurmctldParameters=preempt_send_user_signal
		s/^PartitionName=main .*/& PriorityTier=1 PreemptMode=REQUEUE GraceTime=30/
		s/^PartitionName=batch Nodes=[^ ]*/PartitionName=batch Nodes=n[1-4] PriorityTier=2 PreemptMode=OFF/"
}

teardown_file() { schedule_alone; }

teardown() { clean_up; }

# One of these jobs is suspended, the others run.
one_is_parked() {
	[ "$(controller squeue --noheader --jobs "$(IFS=, && echo "$*")" --format %T | sort | uniq -c | tr -s '\n ' ' ')" = \
		" $(($# - 1)) RUNNING 1 SUSPENDED " ]
}

@test "job of another partition gets the memory of a job of DFRS, which is parked and goes on afterwards" {
	needs_parking
	# With steps: Slurm's preemption sends these SIGTERM, where nothing prevents it.
	# shellcheck disable=SC2016,SC2154 # expanded by the job, of the helpers
	counts='srun sh -c "for i in 1 2 3; do echo \$i; sleep 1; done; '"$until_finished"'; echo end"'
	jobs=()
	for _ in 1 2; do jobs+=("$(submit --nodelist=n1 --mem=400 --time=20 -- "$counts")"); done
	for job in "${jobs[@]}"; do wait_for_state "$job" RUNNING 20; done
	sleep 6 # SettleTime
	other=$(submit --partition=batch --nodelist=n1 --mem=500 --time=5 -- "$until_finished")
	wait_for_state "$other" RUNNING 20
	[ "$(seconds_until_start "$other")" -lt 30 ] # the grace time
	wait_until 10 one_is_parked "${jobs[@]}"
	# Longer than the grace time: it is not ended for that it does not run.
	sleep 35
	one_is_parked "${jobs[@]}"
	finish "$other"
	for job in "${jobs[@]}"; do wait_for_state "$job" RUNNING 30; done
	finish "${jobs[@]}"
	for job in "${jobs[@]}"; do
		wait_for_state "$job" COMPLETED 20
		[ "$(output "$job" | tr '\n' ' ')" = "1 2 3 end " ]
	done
}

@test "job of another partition gets the memory of jobs that checkpoint, which are warned once and wait" {
	# shellcheck disable=SC2016 # expanded by the job
	saves=$(submit --nodelist=n1 --mem=800 --comment=dfrs:checkpoint --signal=B:USR1@60 --time=20 -- \
		'trap "echo saved; exit 0" USR1; echo begun; '"$until_finished"' & wait')
	wait_for_state "$saves" RUNNING 20
	sleep 6
	other=$(submit --partition=batch --nodelist=n1 --mem=500 --time=5 -- "$until_finished")
	wait_for_state "$other" RUNNING 25
	wait_for_state "$saves" PENDING 20
	[ "$(output "$saves" | grep -c '^saved$')" = 1 ]
	finish "$other" "$saves"
	wait_for_state "$saves" COMPLETED 40
}

@test "job of another partition gets the memory of a job that cannot leave after its grace time" {
	stays=$(submit --nodelist=n1 --mem=800 --comment=dfrs:never --time=20 -- "$until_finished")
	wait_for_state "$stays" RUNNING 20
	sleep 6
	other=$(submit --partition=batch --nodelist=n1 --mem=500 --time=5 -- "$until_finished")
	wait_for_state "$other" RUNNING 120
	[ "$(state "$stays")" = PENDING ]
	finish "$other" "$stays"
	wait_for_state "$stays" COMPLETED 200
}
