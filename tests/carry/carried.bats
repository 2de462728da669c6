#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016 # expanded by jobs
#
# Jobs are carried from node to node by hand: dfrsd dumps them, Slurm requeues them, and the plugin has dfrsd restore them.

load helpers

images=/var/lib/dfrs/images

# A script that counts to 100 in 20 s.
counting='echo begin $$; trap "echo got USR1" USR1; for i in {1..100}; do echo "count $i"; sleep 0.2; done; exit 6'

dump() { in_cluster "$2" dfrsd dump --job "$1" --images $images --criu /opt/cluster/criu; }

# move JOB NODE: has Slurm start it there.
move() {
	controller scontrol requeue "$1"
	wait_for_state "$1" PENDING 20
	controller scontrol update "jobid=$1" "reqnodelist=$2" starttime=now
}

# carry JOB FROM TO: until it runs there.
carry() {
	dump "$1" "$2"
	move "$1" "$3"
	wait_until 20 is_restored "$1" "$3"
}

# shellcheck disable=SC2317 # for wait_until
is_restored() { [ "$(nodes_of "$1")" = "$2" ] && [ "$(state "$1")" = RUNNING ] && in_cluster "$2" test -e "$images/$1/restored"; }

@test "a job is carried twice, and knows nothing of it" {
	local job
	# Submitted by a job that was requeued.
	job=$(submit_and_wait 'count 5' -w n1 --export=ALL,SLURM_RESTART_COUNT=3 -- "$counting")
	carry "$job" n1 n2
	wait_until 10 nothing_is_left n1
	wait_until 10 prints "$job" 'count 40'
	# Low PIDs stay free for criu.
	[ "$(in_cluster n2 sh -c 'awk "/NSpid/ { print \$NF }" /proc/$(pgrep -u alice -x sleep)/status')" -gt 300 ]
	carry "$job" n2 n3
	wait_for_state "$job" FAILED 60
	[ "$(exit_code "$job")" = ExitCode=6:0 ]
	[ "$(output "$job" | grep -c '^begin')" = 1 ]
	diff <(seq 100) <(output "$job" | sed -n 's/^count //p')
}

@test "what was restored is in the job's cgroups, and gets its signals" {
	local job node
	job=$(submit_and_wait 'count 5' -w n1 -- "$counting")
	carry "$job" n1 n2
	node=$(in_cluster n2 sh -c 'for pid in $(pgrep -u alice); do grep -c "job_$0/" "/proc/$pid/cgroup"; done' "$job" | sort -u)
	# The same groups for all, and no process is outside.
	[ "$(wc -l <<<"$node")" = 1 ]
	[ "$node" != 0 ]
	controller scancel --batch --signal=USR1 "$job"
	wait_until 10 prints "$job" 'got USR1'
	controller scontrol suspend "$job"
	wait_for_state "$job" SUSPENDED 20
	controller scontrol resume "$job"
	wait_for_state "$job" RUNNING 20
	controller scancel "$job"
	wait_for_state "$job" CANCELLED 20
	wait_until 10 nothing_is_left n2
}

@test "a job that is released goes on in place, with the signals that it has got" {
	local job
	job=$(submit_and_wait 'count 5' -w n1 -- "trap 'echo got TERM' TERM; $counting")
	dump "$job" n1
	controller scancel --batch --signal=USR1 "$job"
	controller scancel --batch --signal=TERM "$job"
	in_cluster n1 test -e "$images/$job/ready"
	in_cluster n1 dfrsd release --job "$job" --images $images
	wait_for_state "$job" FAILED 60
	[ "$(exit_code "$job")" = ExitCode=6:0 ]
	prints "$job" 'got USR1'
	prints "$job" 'got TERM'
	diff <(seq 100) <(output "$job" | sed -n 's/^count //p')
}

@test "a connection within a job goes on with it in place, and is not in its way later" {
	local job
	in_cluster controller -u alice -- sh -c 'printf %s "$0" >/home/alice/tcp-inside.py' "$(cat "$BATS_TEST_DIRNAME/zoo/tcp-inside.py")"
	job=$(submit_and_wait '^3 ' -w n1 -- "python3 -u tcp-inside.py")
	dump "$job" n1
	[ "$(in_cluster n1 iptables --list-rules | grep -c DROP)" = 0 ]
	in_cluster n1 dfrsd release --job "$job" --images $images
	wait_for_state "$job" COMPLETED 60
	prints "$job" '^a later client: 9801$'
}

@test "a job that is cancelled after the dump ends at once" {
	local job
	job=$(submit_and_wait 'count 5' -w n1 -- "$counting")
	dump "$job" n1
	controller scancel "$job"
	wait_until 5 nothing_is_left n1
	wait_for_state "$job" CANCELLED 10
	in_cluster n1 rm -r "$images/$job"
}

# held_while BROKEN: the job is held as long as that file is not in the directory of images, and goes on then.
held_while() {
	local job broken
	job=$(submit_and_wait 'count 5' -w n1 -- "$counting")
	dump "$job" n1
	broken=$images/${1/JOB/$job}
	in_cluster n1 mv "$broken" "$images/$job.kept"
	move "$job" n2
	wait_for_state "$job" SPECIAL_EXIT 30
	in_cluster n1 mv "$images/$job.kept" "$broken"
	controller scontrol update "jobid=$job" reqnodelist=n3 starttime=now
	controller scontrol release "$job"
	wait_until 20 is_restored "$job" n3
	wait_for_state "$job" FAILED 60
	diff <(seq 100) <(output "$job" | sed -n 's/^count //p')
}

@test "a job whose image is damaged is held, and goes on when it is whole" { held_while JOB/inventory.img; }

@test "a job that may have an image is held where images are not mounted" { held_while lock; }

@test "a job that waits with its image does not begin in a partition where it cannot be restored" {
	local job
	make_partition_plain
	job=$(submit_and_wait 'count 5' -w n1 -- "$counting")
	dump "$job" n1
	controller scontrol requeue "$job"
	wait_for_state "$job" PENDING 20
	controller scontrol update "jobid=$job" partition=plain reqnodelist=n2 starttime=now
	wait_for_state "$job" SPECIAL_EXIT 30
	controller scontrol update "jobid=$job" partition=main reqnodelist=n3 starttime=now
	controller scontrol release "$job"
	wait_until 20 is_restored "$job" n3
	wait_for_state "$job" FAILED 60
	[ "$(output "$job" | grep -c '^begin')" = 1 ]
	diff <(seq 100) <(output "$job" | sed -n 's/^count //p')
}

# shellcheck disable=SC2317 # for wait_until
says_that_it_may_have_gone_on() { in_cluster "$1" grep -q "JobId=$2: it is not known whether the run after .* was restored" /var/log/slurm/slurmd.log; }

@test "a new job does not go on from the image of another one that had its number" {
	local job
	job=$(submit_one -w n2 --hold -- "$counting")
	in_cluster n1 sh -c 'mkdir -m 700 "$0" && echo "301 1001 3" >"$0/ready"' "$images/$job"
	controller scontrol release "$job"
	wait_for_state "$job" SPECIAL_EXIT 30
	sleep 2
	controller scontrol release "$job"
	controller scontrol update "jobid=$job" starttime=now
	wait_until 30 says_that_it_may_have_gone_on n2 "$job"
	wait_for_state "$job" SPECIAL_EXIT 30
	in_cluster n2 dfrsd release --job "$job" --images $images --discard
	sleep 2
	controller scontrol release "$job"
	controller scontrol update "jobid=$job" starttime=now
	wait_until 30 prints "$job" 'count 5'
}

@test "a start that slurmctld has forgotten is not made a second time" {
	local job state=/var/lib/slurm/slurmctld
	job=$(submit_and_wait 'count 5' -w n1 -- "$counting")
	dump "$job" n1
	controller scontrol requeue "$job"
	wait_for_state "$job" PENDING 20
	controller /opt/cluster/service slurmctld stop
	controller cp -a $state /tmp/slurmctld.before
	controller /opt/cluster/service slurmctld start
	controller scontrol update "jobid=$job" reqnodelist=n2 starttime=now
	wait_until 20 is_restored "$job" n2
	controller /opt/cluster/service slurmctld stop
	controller sh -c "rm -r $state/* && mv /tmp/slurmctld.before/* $state && rm -r /tmp/slurmctld.before"
	controller /opt/cluster/service slurmctld start
	controller scontrol update "jobid=$job" reqnodelist=n3 starttime=now
	wait_for_state "$job" SPECIAL_EXIT 60
	wait_until 20 nothing_is_left n2
	[ "$(output "$job" | grep -c '^begin')" = 1 ]
	in_cluster n3 test -e "$images/$job/ready"
	# Nor is one that begins again; not within the second in which it ended on that node (requeue_now).
	sleep 2
	controller scontrol release "$job"
	controller scontrol update "jobid=$job" starttime=now
	wait_until 30 says_that_it_may_have_gone_on n3 "$job"
	wait_for_state "$job" SPECIAL_EXIT 30
	[ "$(output "$job" | grep -c '^begin')" = 1 ]
	in_cluster n3 dfrsd release --job "$job" --images $images --discard
	[ -z "$(in_cluster n3 find $images -name "$job")" ]
}
