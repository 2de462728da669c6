#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016 # expanded by jobs
#
# What a hostile user tries while a job is an image: criu opens its files by their paths, as root.

bats_require_minimum_version 1.5.0
load helpers

images=/var/lib/dfrs/images

# A job that reads of a file, and has it open: it prints it at the end.
reading='exec 7<own 8<>both; echo begin; until [ -e "finish.$SLURM_JOB_ID" ]; do sleep 0.2; done; cat <&7; exit 6'

setup() {
	as_alice 'rm -rf kept own both; echo of alice >own; echo of alice >both'
	controller sh -c 'echo secret >/home/secret; chown root: /home/secret; chmod 600 /home/secret'
}

as_alice() { controller su alice -c "cd /home/alice && $1"; }
dump() { in_cluster n1 dfrsd dump --job "$1" --images $images --criu /opt/cluster/criu; }

# to_node_2 JOB: has Slurm start it there.
to_node_2() {
	controller scontrol requeue "$1"
	wait_for_state "$1" PENDING 20
	controller scontrol update "jobid=$1" reqnodelist=n2 starttime=now
}

# is_held JOB TEXT: it was not restored, for this reason, and nothing of it is left.
is_held() {
	wait_for_state "$1" SPECIAL_EXIT 30
	in_cluster n2 grep -E "JobId=$1: .*$2" /var/log/slurm/slurmd.log
	in_cluster n2 test -e "$images/$1/ready"
	wait_until 10 nothing_is_left n2
}

# again JOB: it is restored, and ends as it should.
again() {
	# Not within the second in which it ended on that node (requeue_now).
	sleep 2
	controller scontrol update "jobid=$1" reqnodelist=n2 starttime=now
	controller scontrol release "$1"
	wait_for_state "$1" RUNNING 30
	finish "$1"
	wait_for_state "$1" FAILED 30
	[ "$(exit_code "$1")" = ExitCode=6:0 ]
	prints "$1" 'of alice'
	run ! prints "$1" secret
}

# swapped COMMAND BACK REASON: COMMAND of alice's while the job is an image has it held; BACK undoes it.
swapped() {
	local job
	job=$(submit_and_wait begin -w n1 -- "$reading")
	dump "$job"
	as_alice "$1"
	to_node_2 "$job"
	is_held "$job" "$3"
	as_alice "$2"
	again "$job"
}

@test "a link to a file of root's in the place of one that is read" {
	swapped 'mv own kept; ln -s /home/secret own' 'mv kept own' '(own|/home/secret)'
}

@test "a link to a file of root's in the place of one that is written" {
	swapped 'mv both kept; ln -s /home/secret both' 'mv kept both' '(both|/home/secret)'
	[ "$(controller cat /home/secret)" = secret ]
}

@test "another file of the same size in its place" {
	swapped 'mv own kept; cp kept own' 'mv kept own' 'own is another file'
}

@test "a signal wakes nothing before it was compared" {
	local job
	job=$(submit_and_wait begin -w n1 -- "$reading")
	dump "$job"
	as_alice 'mv own kept; cp kept own; sed -i s/alice/mallory/ own; touch finish.'"$job"
	# Processes of the same user on the node to which it goes.
	in_cluster n2 su alice -c 'for i in $(seq 100); do kill -CONT -1; sleep 0.1; done' >/dev/null 2>&1 3>&- &
	to_node_2 "$job"
	is_held_by_name "$job"
	run ! prints "$job" 'of '
	kill $! || true
	controller scancel "$job"
	in_cluster n1 rm -r "$images/$job"
}

is_held_by_name() {
	wait_for_state "$1" SPECIAL_EXIT 30
	in_cluster n2 grep -E "JobId=$1: .*own" /var/log/slurm/slurmd.log
}

@test "what criu would make by name is refused" {
	local job
	job=$(submit_and_wait begin -w n1 -- 'mkfifo pipe.$$; echo x >gone.$$; exec 7<>pipe.$$ 8<gone.$$; rm pipe.$$ gone.$$; mkfifo pipe.$$
		exec 9<>pipe.$$; echo begin; sleep 60')
	run dump "$job"
	[ "$status" = 1 ]
	[[ $output == *"the deleted file"* && $output == *"the named pipe"* ]]
	as_alice 'rm -f pipe.*'
}
