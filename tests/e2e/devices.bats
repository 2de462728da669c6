#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Jobs with GPUs: two nodes have two devices each (docker/devices).
# shellcheck disable=SC2154 # burn and rate are in helpers.bash

load helpers

# with_devices [LINE...]: docker/devices, and DFRS schedules again.
with_devices() {
	local ready
	ready=$(times_ready)
	DFRS_PROJECT=$project "$root/docker/devices" "$@"
	wait_until 60 was_ready_more_often_than "$ready"
}

setup_file() {
	with_devices GresTypes=gpu "NodeName=n[1-2] CPUs=4 RealMemory=1000 Gres=gpu:2 State=UNKNOWN" \
		"NodeName=n[3-4] CPUs=4 RealMemory=1000 State=UNKNOWN"
}

teardown_file() { with_devices; }

teardown() {
	# It may have failed before it did this itself.
	controller touch /tmp/enough
	clean_up
}

# Says which devices a job may open, and lasts.
# shellcheck disable=SC2016 # expanded in the job
open_devices='for device in 0 1; do head -c 1 /dev/dfrs-gpu$device >/dev/null 2>&1 && echo $device; done; sleep'

opens() { [ "$(output "$1" 2>/dev/null | xargs)" = "$2" ]; }

# gpus_in_use NODE
gpus_in_use() { controller scontrol show node "$1" --details | sed -n 's/.*GresUsed=gpu:\([0-9]*\).*/\1/p'; }
requeued() { [[ $(controller scontrol show job "$1") == *" Restarts=1 "* ]]; }

uses_gpus() { [ "$(gpus_in_use "$1")" = "$2" ]; }

@test "jobs with GPUs start at once on nodes whose CPUs others use, each with devices of its own" {
	local busy one other wide
	busy=$(submit --ntasks=4 --nodelist=n1 --mem=50 -- "$burn --work 600 --rate $rate")
	wait_for_state "$busy" RUNNING 30
	one=$(submit --gres=gpu:1 --nodelist=n1 --mem=50 -- "$open_devices 60")
	other=$(submit --gpus=1 --ntasks=1 --nodelist=n1 --mem-per-gpu=60 -- "$open_devices 60")
	wide=$(submit --gpus-per-node=1 --nodes=2 --ntasks=2 --exclude=n3,n4 --mem=50 -- "$open_devices 60")
	wait_for_state "$one" RUNNING 30
	wait_for_state "$other" RUNNING 30
	wait_until 30 opens "$one" 0
	wait_until 30 opens "$other" 1
	wait_until 10 says "$wide" "gpu:1 a node"
	[ "$(state "$busy")" = RUNNING ]
	controller scancel "$one"
	wait_for_state "$wide" RUNNING 40
	wait_until 30 opens "$wide" 0
	uses_gpus n1 2
	uses_gpus n2 1
}

@test "job with GPUs keeps them when slurmctld is killed, and gives them back when it is requeued" {
	local holder waiting
	holder=$(submit --gres=gpu:2 --nodelist=n1 --mem=50 --comment=dfrs:restart -- "$open_devices 300")
	wait_for_state "$holder" RUNNING 30
	wait_until_saved "$holder"
	controller /opt/cluster/service slurmctld kill
	controller /opt/cluster/service slurmctld start
	wait_until 60 controller scontrol ping
	waiting=$(submit --gres=gpu:1 --nodelist=n1 --mem=50 -- "$open_devices 60")
	wait_until 60 says "$waiting" "gpu:1 a node"
	uses_gpus n1 2
	[ "$(state "$holder")" = RUNNING ]
	controller scancel "$waiting"
	controller scontrol requeue "$holder"
	wait_until 60 requeued "$holder"
	wait_for_state "$holder" RUNNING 60
	uses_gpus n1 2
	run logs overallocated
	[ "$status" != 0 ]
}

# The same, and locks each device that it may open as long as it lasts; one that it cannot lock has another holder.
# shellcheck disable=SC2016 # expanded in the job
lock_devices='for device in 0 1; do
	head -c 1 /dev/dfrs-gpu$device >/dev/null 2>&1 || continue
	exec {lock}>>"/home/alice/device-$(hostname)-$device"
	flock --nonblock $lock || echo "$SLURM_JOB_ID: $(hostname) $device" >>/home/alice/two-holders
done
sleep'

# Jobs which fill all four devices more than once, with parts for a node, two for a node, and two nodes.
submit_wave() {
	submit --gres=gpu:1 --mem=50 -- "$lock_devices 4"
	submit --gres=gpu:2 --mem=50 -- "$lock_devices 2"
	submit --gpus-per-node=1 --nodes=2 --ntasks=2 --mem=50 -- "srun bash -c '$lock_devices 3'"
	submit --gpus=1 --ntasks=1 --mem=50 -- "$lock_devices 3"
}

@test "no device has two holders while jobs come and go, one is requeued, a node is drained, slurmctld is killed" {
	local check holder node compared most long=()
	controller rm -f /home/alice/two-holders /tmp/enough
	controller python3 -c "$(<"$BATS_TEST_DIRNAME/device_holders.py")" /tmp/enough >"$BATS_TEST_TMPDIR/holders" 3>&- &
	check=$!
	holder=$(submit --gres=gpu:1 --nodelist=n1 --mem=50 --comment=dfrs:restart -- "$lock_devices 8")
	submit_wave
	wait_for_state "$holder" RUNNING 30
	controller scontrol requeue "$holder"
	wait_until 60 requeued "$holder"
	submit_wave
	controller scontrol update nodename=n2 state=drain reason=test
	wait_until 60 uses_gpus n2 0
	submit_wave
	controller scontrol update nodename=n2 state=resume
	wait_for_empty_queue 60
	for node in n1 n2; do
		long+=("$(submit --gres=gpu:2 --nodelist=$node --mem=50 -- "$lock_devices 0; $until_finished")")
		wait_for_state "${long[-1]}" RUNNING 30
	done
	submit_wave
	# It takes minutes to see that a job has ended whose end it had not saved.
	wait_until_saved "${long[0]}"
	controller /opt/cluster/service slurmctld kill
	controller /opt/cluster/service slurmctld start
	wait_until 60 controller scontrol ping
	finish "${long[@]}"
	wait_for_empty_queue 60
	controller touch /tmp/enough
	wait "$check" || {
		cat "$BATS_TEST_TMPDIR/holders"
		return 1
	}
	read -r _ compared _ most _ <"$BATS_TEST_TMPDIR/holders"
	echo "compared $compared seconds, $most devices in use at most"
	[ "$compared" -ge 5 ] && [ "$most" = 4 ]
	run controller cat /home/alice/two-holders
	[ "$status" != 0 ]
}

# shows JOB TEXT: scontrol does, of this job.
shows() { [[ $(controller scontrol show job "$1") == *"$2"* ]]; }
# has_run JOB TASKS: a step of it had so many tasks.
has_run() { [ "$(output "$1" 2>/dev/null | grep -c task)" = "$2" ]; }

# runs_with TASKS TEXT OPTION...: a job with these options starts, as many tasks run in a step of it, and scontrol
# shows the text.
runs_with() {
	local tasks=$1 text=$2 job
	shift 2
	job=$(submit "$@" -- "srun echo task; sleep 60")
	wait_for_state "$job" RUNNING 30
	wait_until 30 has_run "$job" "$tasks"
	shows "$job" "$text" || {
		controller scontrol show job "$job"
		return 1
	}
}

no_more_jobs() {
	controller scancel --user=alice
	wait_for_empty_queue 30
}

@test "job gets what it asks for by GPU, and GPUs that it asks for by task or for all of its nodes" {
	runs_with 2 NumCPUs=2 --gpus=2 --nodes=2 --ntasks=2 --mem=50
	uses_gpus n1 1
	uses_gpus n2 1
	no_more_jobs
	runs_with 4 NumCPUs=4 --gpus-per-task=1 --ntasks-per-node=2 --ntasks=4 --mem=50
	uses_gpus n1 2
	uses_gpus n2 2
	no_more_jobs
	runs_with 4 NumNodes=2 --gpus-per-task=1 --ntasks=4 --mem=50
	uses_gpus n1 2
	uses_gpus n2 2
	no_more_jobs
	runs_with 1 NumCPUs=4 --gpus-per-node=2 --cpus-per-gpu=2 --ntasks=1 --nodelist=n1 --mem=50
	runs_with 2 NumTasks=2 --gpus-per-node=1 --ntasks-per-gpu=2 --nodes=1 --nodelist=n2 --mem=50
}

@test "defaults for GPUs apply to jobs that say nothing of them" {
	controller scontrol update PartitionName=main JobDefaults=DefCpuPerGPU=2,DefMemPerGPU=70
	runs_with 1 cpu=4,mem=140M --gpus-per-node=2 --ntasks=1 --nodelist=n1
	runs_with 1 cpu=1,mem=50M --gpus-per-node=1 --cpus-per-task=1 --ntasks=1 --nodelist=n2 --mem=50
	controller scontrol update PartitionName=main JobDefaults=
}

@test "forms of requests for GPUs that cannot be honoured are said at once" {
	local job
	job=$(submit --gpus=3 --ntasks=4 --nodes=2 --mem=50 -- true)
	wait_until 30 says "$job" "devices for all of its nodes together"
	job=$(submit --gpus-per-node=1 --cpus-per-gpu=2 --ntasks=3 --mem=50 -- true)
	wait_until 30 says "$job" "--cpus-per-gpu"
}
