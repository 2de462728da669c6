# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Makes a fresh machine ready: Debian's packages that are missing, and a Docker engine that answers.
# Sourced, never run; the caller defines die.

as_root() {
	if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

is_installed() {
	dpkg-query --show --showformat '${db:Status-Status}' "$1" 2>/dev/null | grep -qx installed
}

# provide_packages PACKAGE...: installs those that are missing.
provide_packages() {
	local missing package report
	command -v dpkg-query >/dev/null || die "this is no Debian; install the likes of: $*"
	missing=$(for package in "$@"; do is_installed "$package" || echo "$package"; done | paste -sd ' ')
	[ -z "$missing" ] && return
	echo "installing $missing" >&2
	# shellcheck disable=SC2086 # one word a package
	report=$({ as_root apt-get -qq update && as_root apt-get -qq install --yes --no-install-recommends $missing; } 2>&1) ||
		die "apt-get cannot install $missing: $(tail -n 1 <<<"$report")"
}

# Docker Engine and Compose, from Debian's packages where they are missing. An engine that was not
# running is started; it goes on when the caller ends, unless that stops it: docker_pid is its process.
provide_docker() {
	local log
	docker_pid=
	command -v docker >/dev/null || provide_packages docker.io docker-compose
	docker compose version >/dev/null 2>&1 || command -v docker-compose >/dev/null || provide_packages docker-compose
	docker info >/dev/null 2>&1 && return
	[ "$(id -u)" = 0 ] || die "the Docker engine does not answer; start it, get access to it, or run this as root"
	log=$(mktemp --suffix .dockerd.log)
	setsid dockerd >"$log" 2>&1 &
	docker_pid=$!
	echo "starting the Docker engine, process $docker_pid; its log is $log" >&2
	for _ in $(seq 180); do
		docker info >/dev/null 2>&1 && return
		sleep 1
	done
	die "the Docker engine does not start; see $log"
}
