#!/usr/bin/env bats
# SPDX-License-Identifier: GPL-2.0-or-later
#
# How tests enter containers (docker/command): as by docker exec, without Docker.
# shellcheck disable=SC2154 # root and project are in docker/common.sh

load helpers

bats_require_minimum_version 1.5.0

# What a process has from its surroundings, and its words.
# shellcheck disable=SC2016 # expanded in the container
surroundings='
id; env; pwd; cat /proc/self/cgroup /proc/self/limits /proc/self/oom_score_adj; readlink /proc/self/ns/* /proc/self/fd/0
grep -E "^(Umask|Groups|Cap.*|NoNewPrivs|Seccomp|Cpus_allowed|SigBlk|SigIgn):" /proc/self/status
stat --dereference --format "%A %U" /proc/self/fd/1 /proc/self/fd/2
[ "$(ps -o sid= -p $$)" = "$(ps -o pgid= -p $$)" ] && printf "[%s]" "$@"; echo'

by_docker() { docker exec -u "$1" "$(container "$2")" "${@:3}"; }

# Without a cluster's network and daemons: a container of its image that only runs commands, and can be killed.
begin_mortal() {
	mortal=$(docker run --rm --detach --entrypoint /opt/cluster/command-server --volume "$root/target/docker/commands/$project:/root/commands" \
		"$(docker inspect --format '{{.Image}}' "$(container controller)")" /root/commands/mortal)
	wait_until 10 in_cluster mortal true
}

teardown() { [ -z "${mortal:-}" ] || docker rm --force "$mortal" >/dev/null 2>&1 || true; }

@test "containers of Slurm's run commands without Docker" {
	for service in controller n1 n2 n3 n4; do
		# shellcheck disable=SC2016 # expanded in the container
		[[ $(in_cluster $service sh -c 'ps -o args= -p $PPID') == */command-server* ]]
	done
}

@test "command has what docker exec gives it" {
	for service in controller n1; do
		for user in root alice slurm; do
			expected=$(by_docker $user $service bash -c "$surroundings" words "" "a  b" $'c\nd')
			[[ $expected == *CapEff:*'[][a  b][c'*'d]'* ]]
			diff <(echo "$expected") <(in_cluster $service -u $user -- bash -c "$surroundings" words "" "a  b" $'c\nd')
		done
	done
}

@test "exit status of a command comes back" {
	run -42 in_cluster n1 sh -c 'exit 42'
	# shellcheck disable=SC2016 # expanded in the container
	run -137 in_cluster n1 sh -c 'kill -KILL $$'
	run -127 in_cluster n1 no-such-program
	[[ $output == *no-such-program* ]]
	run -126 in_cluster n1 /etc/passwd
	run -126 in_cluster n1 -u no-such-user true
	run -1 in_cluster no-such-service true
}

@test "output and errors of a command come back apart, however long they are" {
	expected=$(head -c 20000000 /dev/zero | sha256sum)
	found=$(in_cluster n1 sh -c 'head -c 20000000 /dev/zero; head -c 300000 /dev/zero >&2' 2>"$BATS_TEST_TMPDIR/errors" | sha256sum)
	[ "$found" = "$expected" ]
	[ "$(stat --format %s "$BATS_TEST_TMPDIR/errors")" = 300000 ]
	[ "$(in_cluster n1 -u alice sh -c 'echo out >/dev/stdout; echo errors >/dev/stderr' 2>&1)" = out$'\n'errors ]
}

@test "standard input of a command is empty, and that of its caller stays" {
	read -r line < <(echo kept | { in_cluster n1 cat; cat; })
	[ "$line" = kept ]
}

@test "commands run at the same time" {
	begun=$SECONDS
	for number in $(seq 30); do in_cluster n1 sh -c "sleep 3; echo $number" >>"$BATS_TEST_TMPDIR/numbers" 3>&- & done
	wait
	[ "$(sort -n "$BATS_TEST_TMPDIR/numbers")" = "$(seq 30)" ]
	[ $((SECONDS - begun)) -lt 60 ]
}

@test "command goes on when its caller is gone, and a caller does not wait for what its command leaves" {
	in_cluster n1 rm -f /tmp/left
	# shellcheck disable=SC2016 # expanded in the container
	timeout 1 "$root/docker/command" "$project" n1 root sh -c 'for i in $(seq 20); do echo "$i"; sleep 0.1; done; echo end >/tmp/left' | head -n 1
	wait_until 10 in_cluster n1 grep -qx end /tmp/left
	begun=$SECONDS
	[ "$(in_cluster n1 sh -c 'sleep 50 & echo begun')" = begun ]
	[ $((SECONDS - begun)) -lt 40 ]
	in_cluster n1 pkill -x sleep
}

@test "command fails when its container ends, and so does the next" {
	begin_mortal
	in_cluster mortal sh -c 'echo begun; sleep 100' >"$BATS_TEST_TMPDIR/output" 3>&- &
	waiting=$!
	wait_until 10 grep -q begun "$BATS_TEST_TMPDIR/output"
	docker kill "$mortal"
	status=0
	wait $waiting || status=$?
	[ $status = 137 ]
	run -1 in_cluster mortal true
	[[ $output == *"no container 'mortal'"* ]]
}

@test "only who brought the cluster up can have its containers run commands" {
	[ "$(stat --format '%a %u' "$root/target/docker/commands/$project")" = "700 $(id -u)" ]
	[ "$(stat --format '%a %u' "$root/target/docker/commands/$project/n1")" = "600 $(id -u)" ]
	run ! in_cluster n1 -u alice -- ls /root/commands
}
