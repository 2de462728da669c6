#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What dfrs explain, doctor and status --shadow say, against what is.
# shellcheck disable=SC2154 # parked_job and preempting_job are in helpers.bash

load helpers

setup() {
	# Users may not enter StateSaveLocation.
	controller install -d -o slurm -m 755 /run/dfrs-status
	# What is parked stays parked while a busy machine looks at it.
	controller sh -c 'sed -i "s/^Period=.*/Period=300/" /etc/slurm/dfrs.conf
		echo StatusDirectory=/run/dfrs-status >>/etc/slurm/dfrs.conf'
	reconfigured
}

teardown() {
	configure
	reconfigure
	in_cluster n4 sh -c 'pgrep -x dfrsd >/dev/null || /opt/cluster/service dfrsd start'
	clean_up
}

# field USER JOB NAME: what dfrs explain shows to that user.
field() {
	in_cluster controller -u "$1" -- dfrs explain --json "$2" | /usr/bin/python3 -c '
import json, sys
value = json.load(sys.stdin).get(sys.argv[1])
print(json.dumps(value) if isinstance(value, list) else value)' "$3"
}
phase_is() { [ "$(field alice "$1" phase)" = "$2" ]; }
why_is_its_reason() { [ "$(field "$2" "$1" why)" = "$(reason "$1")" ]; }

@test "dfrs explain shows running, pending and parked jobs to their user and to root only" {
	needs_parking
	park_for "$until_finished" --nodelist=n1 --ntasks=1 --mem=800 --time=20 -- "$burn --work 20 --rate $rate"
	waits=$(submit --nodelist=n1 --ntasks=1 --mem=800 --time=20 --comment=dfrs:never --hold -- "true")
	two=()
	for _ in 1 2 3 4 5 6 7 8; do
		two+=("$(submit --ntasks=1 --nodelist=n2 --mem=50 -- "$burn --work 60 --rate $rate")")
	done
	for job in "${two[@]}"; do wait_for_state "$job" RUNNING 30; done
	wait_until 10 phase_is "$parked_job" parked
	wait_until 10 phase_is "$preempting_job" running
	wait_until 10 phase_is "$waits" waiting
	wait_until 35 why_is_its_reason "$parked_job" alice
	[ "$(field alice "$parked_job" yield)" = 0.0 ]
	[ "$(field alice "$preempting_job" yield)" = 1.0 ]
	[ "$(field alice "${two[0]}" yield)" = 0.5 ]
	[ "$(field alice "$parked_job" last_change | grep -c pause)" = 1 ]
	[ "$(field alice "$parked_job" nodes | grep -c '"n1"')" = 1 ]
	[ "$(field alice "${two[0]}" neighbours)" = 7 ]
	# Only root may see which jobs are beside it.
	[ "$(field alice "${two[0]}" neighbour_jobs)" = None ]
	field root "${two[0]}" neighbour_jobs | grep -qw "${two[7]}"
	# For people, in words.
	in_cluster controller -u alice -- dfrs explain "$parked_job"
	in_cluster controller -u alice -- dfrs explain "$parked_job" | grep -q "^JobId=$parked_job uid=1000 in partition main: parked"
	# Other users get the answer for a job that does not exist.
	run in_cluster controller -u nobody -- dfrs explain "$parked_job"
	[ "$status" = 1 ]
	of_others=${output//$parked_job/N}
	run in_cluster controller -u nobody -- dfrs explain 99999999
	[ "$status" = 1 ]
	[ "${output//99999999/N}" = "$of_others" ]
}

misses_dfrsd_on() { controller dfrs doctor | grep -qE "^(warning|error) +dfrsd: .*$1"; }

@test "dfrs doctor finds no error on a good cluster, and names the dfrsd that is gone" {
	needs_answers "a silent node is not reported"
	run controller dfrs doctor
	echo "$output"
	[ "$status" -lt 2 ]
	[[ ! "$output" =~ (^|$'\n')error ]]
	for about in slurm dfrs.conf library scheduler select partition plugin dfrsd; do
		grep -q "^[a-z]* *$about: " <<<"$output"
	done
	in_cluster n4 /opt/cluster/service dfrsd kill
	wait_until 60 misses_dfrsd_on n4
	run in_cluster n4 dfrs doctor --node n4
	echo "$output"
	[ "$status" = 2 ]
	grep -q '^error *dfrsd: ' <<<"$output"
	in_cluster n4 /opt/cluster/service dfrsd start
	run in_cluster n1 dfrs doctor --node n1
	echo "$output"
	[ "$status" -lt 2 ]
}

@test "dfrs doctor shows a user what the user may read, and changes nothing" {
	run in_cluster controller -u alice -- dfrs doctor
	echo "$output"
	[[ "$output" != *panicked* ]]
	grep -q '^ok *slurm: ' <<<"$output"
	before=$(times_ready)
	in_cluster controller -u nobody -- dfrs doctor --json | /usr/bin/python3 -c 'import json, sys; assert json.load(sys.stdin)["version"] == 1'
	[ "$(times_ready)" = "$before" ]
}

@test "dfrs decide repeats the decision that was recorded" {
	states=/var/lib/slurm/slurmctld
	controller rm -f $states/dfrs_recorded.json
	running=$(submit --ntasks=1 --mem=50 -- "$until_finished")
	wait_for_state "$running" RUNNING 30
	controller touch $states/dfrs_record
	next=$(submit --ntasks=1 --mem=50 --nodelist=n1 -- "$until_finished")
	wait_until 30 controller test -e $states/dfrs_recorded.json
	controller test ! -e $states/dfrs_record
	run controller dfrs decide $states/dfrs_recorded.json
	echo "$output"
	[ "$status" = 0 ]
	[[ "$output" == *"As expected." ]]
	grep -qw "job $running" <<<"$output"
	finish "$running" "$next"
}

@test "dfrs status --shadow compares what Slurm did with what DFRS would have when Mode=shadow" {
	controller sed -i -e "s/^Mode=.*/Mode=shadow/" -e "s#^Journal=.*#Journal=/var/log/slurm/shadow-$(date +%s).jsonl#" \
		/etc/slurm/dfrs.conf
	reconfigured
	# What other tests did to dfrsd is in the log as well.
	length=$(controller_log | wc -l)
	jobs=()
	for _ in $(seq 12); do
		jobs+=("$(submit --ntasks=1 --nodelist=n1,n2 --nodes=2 --mem=400 --time=5 -- "sleep 4")")
	done
	for job in "${jobs[@]}"; do wait_for_state "$job" COMPLETED 120; done
	[ "$(field alice "${jobs[0]}" mode 2>/dev/null || echo shadow)" = shadow ]
	sleep 2
	run controller dfrs status --shadow
	echo "$output"
	[ "$status" = 0 ]
	grep -q 'Slurm, as it was' <<<"$output"
	grep -q 'EASY/shared, simulated' <<<"$output"
	# Twelve jobs of 4 s on two nodes, two at a time: the last ones waited for some 20 s.
	controller dfrs status --shadow --json | /usr/bin/python3 -c '
import json, sys
report = json.load(sys.stdin)
assert report["jobs"] == 12, report
assert report["schedules"][0]["mean_wait"] > 5, report'
	[ "$(controller_log | tail -n +$((length + 1)) | grep -c 'error: .*dfrs')" = 0 ]
}
