# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# What the scripts of this directory share. Sourced, never run.

# shellcheck disable=SC2034 # used by those that source this
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

# One line: what went wrong and what to do about it.
die() {
	echo "$(basename "$0"): $*" >&2
	exit 1
}

say() {
	echo "$(basename "$0"): $*" >&2
}

need() {
	local program=$1 remedy=$2
	command -v "$program" >/dev/null || die "$program is not installed; $remedy"
}

suite_of_debian() {
	case $1 in
	12) echo bookworm ;;
	13) echo trixie ;;
	*) die "Debian '$1' is not known; use 12 (Slurm 22.05.8) or 13 (Slurm 24.11.5)" ;;
	esac
}

slurm_of_debian() {
	case $1 in
	12) echo 22.05.8 ;;
	13) echo 24.11.5 ;;
	*) die "Debian '$1' is not known; use 12 (Slurm 22.05.8) or 13 (Slurm 24.11.5)" ;;
	esac
}

# The version of a Slurm source tree, as in 26.05.3.
version_of_tree() {
	local version
	version=$(sed -n 's/^[[:space:]]*Version:[[:space:]]*//p' "$1/META" 2>/dev/null) || true
	[[ $version =~ ^[0-9.]+$ ]] || die "'$1' is no Slurm source tree: there is no META with its Version"
	echo "$version"
}

# The Debian mirror: DEBIAN_MIRROR if set, else the one that this system's apt uses.
debian_mirror() {
	local found=
	if [ -n "${DEBIAN_MIRROR:-}" ]; then
		echo "$DEBIAN_MIRROR"
		return
	fi
	# shellcheck disable=SC2016 # $(SITE) is apt's word, not the shell's
	found=$(apt-get indextargets --format '$(SITE)' 2>/dev/null | grep -m 1 '/debian/*$' || true)
	[ -n "$found" ] || die "apt has no Debian mirror; run 'apt-get update' once, or set DEBIAN_MIRROR"
	echo "$found"
}

debian_keyring() {
	local keyring=${DEBIAN_KEYRING:-/usr/share/keyrings/debian-archive-keyring.gpg}
	[ -r "$keyring" ] || die "$keyring is missing; install debian-archive-keyring or set DEBIAN_KEYRING"
	echo "$keyring"
}

# Compose as a plugin of Docker, or as the older program of its own.
compose() {
	if docker compose version >/dev/null 2>&1; then
		docker compose "$@"
	else
		docker-compose "$@"
	fi
}

need_docker() {
	need docker "install Docker Engine"
	docker info >/dev/null 2>&1 || die "the Docker engine does not answer; start it, or ask for access to it"
	compose version >/dev/null 2>&1 || die "Docker Compose is not installed; install docker-compose"
}

# The cluster that a script is about: one project of Compose. Tests take a name of their own.
project=${DFRS_PROJECT:-dfrs}

# compose.yaml, or a copy of it with more nodes like its last.
compose_file() {
	local more=$root/target/docker/compose-${DFRS_NODES:-4}.yaml
	if [ "${DFRS_NODES:-4}" = 4 ]; then
		echo "$root/docker/compose.yaml"
		return
	fi
	mkdir -p "$root/target/docker"
	awk -v nodes="$DFRS_NODES" '
		/^  [a-z0-9]+:$/ || /^[a-z]/ { in_last = $1 == "n4:" }
		in_last && NF { last = last $0 "\n" }
		/^volumes:/ {
			for (node = 5; node <= nodes; node++) { copy = last; gsub(/n4/, "n" node, copy); printf "%s", copy }
		}
		{ print }
	' "$root/docker/compose.yaml" >"$more.$$"
	mv "$more.$$" "$more"
	echo "$more"
}

# Compose on our cluster, with the variables of compose.yaml in the environment.
on_cluster() {
	local files=(--project-directory "$root/docker" --file "$(compose_file)")
	[ -z "${DFRS_STATE_MB:-}" ] || files+=(--file "$root/docker/small-state.yaml")
	[ "${DFRS_CARRY:-no}" = no ] || files+=(--file "$root/docker/carry.yaml")
	DFRS_PROJECT=$project compose --project-name "$project" "${files[@]}" "$@"
}

# Runs a command in a container of our cluster: in_cluster SERVICE [-u USER] [--] COMMAND...
in_cluster() {
	local service=$1 user=root
	shift
	if [ "$1" = -u ]; then
		user=$2
		shift 2
	fi
	[ "$1" != -- ] || shift
	"$root/docker/command" "$project" "$service" "$user" "$@"
}

# The id of a service's container, whether it runs or not.
container() {
	docker ps --all --no-trunc --quiet --filter "label=com.docker.compose.project=$project" \
		--filter "label=com.docker.compose.service=$1"
}

nodes_idle() {
	# A node is there once for each of its partitions.
	in_cluster controller sinfo --noheader --Node --format '%N %t' 2>/dev/null | sort -u | grep -c ' idle$' || true
}

# wait_for_nodes N: until that many, which are all of the cluster, are idle.
wait_for_nodes() {
	local nodes=$1 second
	for second in $(seq $((200 + 10 * nodes))); do
		[ "$(nodes_idle)" = "$nodes" ] && return
		sleep 1
		[ -n "$(docker ps --quiet --filter "id=$(container controller)")" ] ||
			die "the controller has ended; see: docker logs $(container controller)"
	done
	in_cluster controller sinfo --Node --long >&2 || true
	die "after $second s the nodes are not all idle; see: DFRS_PROJECT=$project docker/shell, /var/log/slurm"
}

# change_hosts SCRIPT [ARGUMENT...]: runs a bash script in each container of Slurm's, starts all daemons again, and waits
# until all nodes are idle. slurmctld is down meanwhile, as it would take nodes out whose slurmd knows other devices
# than it does.
change_hosts() {
	local count number host hosts=()
	# It is in a container's environment.
	count=$(in_cluster controller printenv DFRS_NODES) || die "there is no cluster '$project'; run docker/up"
	for number in $(seq "$count"); do hosts+=("n$number"); done
	in_cluster controller /opt/cluster/service slurmctld stop
	for host in controller "${hosts[@]}"; do in_cluster "$host" bash -euc "$1" change "${@:2}"; done
	for host in "${hosts[@]}"; do in_cluster "$host" /opt/cluster/service slurmd restart; done
	in_cluster controller /opt/cluster/service slurmctld start
	wait_for_nodes "$count"
}
