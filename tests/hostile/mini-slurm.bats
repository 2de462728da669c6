#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Hostile jobs of alice's on a node of the mini-Slurm, and what they may not do to bob's there. What a parked job may have
# is checked by watch.py, from the kernel's own figures.

load ../e2e/helpers

bats_require_minimum_version 1.5.0

here=$(dirname "$BATS_TEST_FILENAME")
hostile=/home/hostile
# A tmpfs, which /dev/shm of a container is too small for.
shared=/mnt/hostile/shared

setup_file() {
	controller rm -rf "$hostile"
	docker cp "$here" "$(container controller):$hostile"
	controller chmod -R a+rX "$hostile"
	controller install -d -m 1777 "$hostile/work"
	in_cluster n1 sh -c 'mkdir -p /mnt/hostile && { mountpoint -q /mnt/hostile || mount -t tmpfs -o size=600m,mode=1777 hostile /mnt/hostile; }'
}

teardown_file() {
	in_cluster n1 umount /mnt/hostile || true
}

teardown() {
	controller scancel --user=bob || true
	clean_up
	in_cluster n1 rm -f "$shared"
	nothing_is_left
}

# No job has left a process of its user or a note on the node, and the node is well.
nothing_is_left() {
	wait_until 20 node_is_idle n1
	wait_until 20 in_cluster n1 sh -c '! pgrep -u alice,bob'
	in_cluster n1 sh -c '! ls /run/dfrs/n1 | grep -E "^(parked|limit|frozen|stuck)"'
}

# victim MEMORY OPTIONS...: an honest job of bob's on n1 that is never moved; its id.
victim() {
	# shellcheck disable=SC2016 # expanded in the container
	in_cluster controller -u bob -- bash -c 'printf "#!/bin/bash\nexec python3 %s/victim.py %s/work/report.\$SLURM_JOB_ID %s\n" "$0" "$0" "$1" | sbatch "${@:2}"' \
		"$hostile" $(($1 - 60)) --parsable --chdir=/home/bob --output=/home/bob/%j.out --nodelist=n1 --ntasks=1 --mem="$1" --time=20 --comment=dfrs:never "${@:2}"
}

report() { echo "$hostile/work/report.$1"; }
has_report() { controller test -e "$(report "$1")"; }

# attack NAME MEMORY VARIABLE=VALUE...: a job of alice's with that script; its id.
attack() {
	local exports
	exports=$(IFS=,; echo "HOSTILE=$hostile,WORK=$hostile/work,SHARED=$shared,MEMORY=$2${3:+,${*:3}}")
	in_cluster controller -u alice -- sbatch --parsable --chdir=/home/alice --output=/home/alice/%j.out --nodelist=n1 --ntasks=1 --mem="$2" \
		--time=20 --export="ALL,$exports" "$hostile/attacks/$1.sh"
}

resident() {
	local bytes
	bytes=$(node_job n1 "$1" resident_bytes)
	[[ $bytes =~ ^[0-9]+$ ]] && [ "$bytes" -gt $(($2 << 20)) ]
}

# begin NAME MEMORY VARIABLE=VALUE...: an honest job, $beside, and the hostile one, $bad.
begin() {
	beside=$(victim 200)
	wait_until 40 has_report "$beside"
	bad=$(attack "$@")
	wait_for_state "$bad" RUNNING 30
}

# Another honest job, $later, needs the memory of the hostile one, which is parked for it.
park() {
	later=$(victim 500)
	wait_for_state "$later" RUNNING 90
	[ "$(state "$bad")" = SUSPENDED ]
	wait_until 60 has_report "$later"
}

# The honest jobs go on for a while, all in all unharmed, and the parked one does nothing.
watch() {
	in_cluster n1 python3 "$hostile/watch.py" 10 PARKED "$bad" "$(report "$beside")" "$(report "$later")"
	[ "$(state "$beside")" = RUNNING ]
	[ "$(state "$later")" = RUNNING ]
}

@test "process left by a task's epilog uses no CPU while its job is parked" {
	needs_parking
	begin epilog 500 KIND=burn
	# It is capped with its job, also beside the steps.
	wait_until 20 in_cluster n1 pgrep -u alice -f 'while :; do :; done'
	park
	watch
}

@test "memory touched in a loop stays out of RAM while its job is parked" {
	needs_parking
	begin touch 500
	wait_until 60 resident "$bad" 300
	park
	watch
	controller scancel "$later"
	wait_for_state "$bad" RUNNING 60
	wait_until 30 resident "$bad" 300
}

@test "shared pages of a parked job are not brought back by another job" {
	needs_parking
	begin share 500
	wait_until 60 resident "$bad" 300
	park
	other=$(in_cluster controller -u bob -- sbatch --parsable --output=/home/bob/%j.out --nodelist=n1 --ntasks=1 --mem=80 --time=20 --comment=dfrs:never \
		--wrap "exec python3 $hostile/memory.py read 460 $shared")
	wait_for_state "$other" RUNNING 30
	watch
	[ "$(state "$bad")" = SUSPENDED ]
	controller scancel "$other" "$later"
	wait_for_state "$bad" RUNNING 60
}

@test "files in a tmpfs go to swap when the job that filled them is parked" {
	needs_parking
	begin orphan-tmpfs 500
	wait_until 60 resident "$bad" 300
	park
	watch
}

@test "step launched after its job was parked gets nothing that other jobs have" {
	needs_parking
	begin late-step 500
	wait_until 40 controller test -e "$hostile/work/stopped.$bad"
	# As a user's srun on the login node, which is in no job: out of the groups of this one.
	srun=$(in_cluster n1 pgrep -u alice -x srun | head -n 1)
	# shellcheck disable=SC2016 # expanded in the container
	in_cluster n1 sh -c 'for tree in /sys/fs/cgroup/*/; do echo "$1" >"$tree/cgroup.procs"; done 2>/dev/null; true' _ "$srun"
	park
	in_cluster n1 pkill -CONT -x srun
	watch
}

@test "running job is parked for another when its user holds it" {
	needs_parking
	begin hold 500
	wait_until 60 resident "$bad" 300
	park
	watch
	controller scancel "$later"
	wait_for_state "$bad" RUNNING 60
}

@test "job is parked for another when it launches a step every eight seconds" {
	needs_parking
	begin steps 500
	wait_until 60 resident "$bad" 300
	park
	watch
}

@test "fork bomb delays neither other jobs nor its own end" {
	needs_parking
	begin fork-bomb 500 PROCESSES=800
	# shellcheck disable=SC2016 # expanded in the container
	wait_until 40 in_cluster n1 sh -c '[ $(pgrep -u alice -c .) -gt 400 ]'
	# It is parked for this one, or not: what the kernel holds for its processes does not leave RAM.
	later=$(victim 500)
	in_cluster n1 python3 "$hostile/watch.py" 10 RUNNING "$bad" "$(report "$beside")"
	controller scancel "$bad"
	wait_for_state "$later" RUNNING 60
	wait_until 120 has_report "$later"
	[ "$(state "$beside")" = RUNNING ]
}
