#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck disable=SC2016,SC2028,SC2154 # expanded by jobs and in containers; of the helpers
#
# Jobs that DFRS carries from node to node. tests/carry has what dfrsd and the carrier do for it.

load helpers

setup() {
	in_cluster n1 grep -q spank_dfrs_carry /etc/slurm/plugstack.conf || skip "jobs of this cluster run without dfrs-carrier"
}

teardown() {
	controller scontrol update nodename=n1 state=resume 2>/dev/null || true
	clean_up
}

# Counts to $1, five a second, and holds some memory.
counting() { echo 'echo begin; held=$(head --bytes 20M /dev/zero | tr "\0" x); for i in {1..'"$1"'}; do echo "count $i"; sleep 0.2; done; echo end'; }

# submit_carriable COUNT SBATCH-OPTIONS...: prints its id when its node has said that it can be carried.
submit_carriable() {
	local job
	job=$(submit --comment=dfrs:carry --ntasks=1 "${@:2}" -- "$(counting "$1")")
	wait_for_state "$job" RUNNING 20
	wait_until 20 can_be_carried "$job"
	sleep 6 # SettleTime
	echo "$job"
}

can_be_carried() { controller dfrs explain "$1" | grep -q "says that it can be carried"; }

runs_elsewhere() { [ "$(state "$1")" = RUNNING ] && [ "$(nodes_of "$1")" != "$2" ]; }
restarts() { controller scontrol show job "$1" | grep -oE 'Restarts=[0-9]+'; }

# counts_to JOB COUNT: nothing of its output is there twice, or missing.
counts_to() {
	[ "$(output "$1" | grep -c '^begin$')" = 1 ]
	diff <(seq "$2") <(output "$1" | sed -n 's/^count //p')
	[ "$(output "$1" | tail -n 1)" = end ]
}

has_no_image() { in_cluster n1 sh -c '! test -e "/var/lib/dfrs/images/$0/ready" || test -e "/var/lib/dfrs/images/$0/restored"' "$1"; }

# fill_a_node COUNT: $imaged_job, which counts to that, waits with its image, as $filling_job needs its memory until it
# is finished.
fill_a_node() {
	imaged_job=$(submit_carriable "$1" --nodelist=n1 --mem=800 --time=20)
	filling_job=$(submit --ntasks=1 --nodelist=n1 --mem=500 --time=20 -- "$until_finished")
	wait_for_state "$filling_job" RUNNING 60
	wait_for_state "$imaged_job" PENDING 10
	in_cluster n1 test -e "/var/lib/dfrs/images/$imaged_job/ready"
}

@test "job that can be carried leaves a draining node and goes on elsewhere" {
	local job node
	job=$(submit_carriable 200 --nodes=1 --exclude=n3,n4 --mem=300 --time=20)
	node=$(nodes_of "$job")
	controller scontrol update "nodename=$node" state=drain reason=upkeep
	wait_until 30 runs_elsewhere "$job" "$node"
	controller scontrol update "nodename=$node" state=resume
	[ "$(restarts "$job")" = Restarts=1 ]
	wait_for_state "$job" COMPLETED 90
	counts_to "$job" 200
	wait_until 10 has_no_image "$job"
}

@test "job that can be carried makes room by its image, and goes on where there is room" {
	fill_a_node 150
	finish "$filling_job"
	wait_for_state "$imaged_job" COMPLETED 120
	[ "$(restarts "$imaged_job")" = Restarts=1 ]
	counts_to "$imaged_job" 150
	wait_until 10 has_no_image "$imaged_job"
}

@test "image of a job that is cancelled while it waits is removed" {
	fill_a_node 150
	controller scancel "$imaged_job"
	wait_for_state "$imaged_job" CANCELLED 20
	wait_until 30 has_no_image "$imaged_job"
	finish "$filling_job"
	wait_for_state "$filling_job" COMPLETED 30
}
