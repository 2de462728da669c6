# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# The steps by which a container becomes a controller or a node. Sourced by the entry point.

fail() {
	echo "$(hostname): $*" >&2
	exit 1
}

munge_key=/etc/munge/munge.key

# The key is made with every new cluster, on a volume that all its containers share.
make_munge_key() {
	[ -e $munge_key ] && return
	dd if=/dev/urandom of=$munge_key.partial bs=1024 count=1 status=none
	chown munge: $munge_key.partial
	chmod 400 $munge_key.partial
	mv $munge_key.partial $munge_key
}

wait_for_munge_key() {
	local tries
	for tries in $(seq 1200); do
		[ -e $munge_key ] && return
		sleep 0.1
	done
	fail "no MUNGE key after $((tries / 10)) s; is the controller running?"
}

# slurmctld looks the nodes' addresses up once, at its start: they must be there by then.
wait_for_names() {
	local name tries node
	local names=()
	for ((node = 1; node <= DFRS_NODES; node++)); do names+=("n$node"); done
	[ "${DFRS_BACKUP:-no}" = no ] || names+=(controller backup)
	for name in "${names[@]}"; do
		for tries in $(seq 1200); do
			getent hosts "$name" >/dev/null && continue 2
			sleep 0.1
		done
		echo "$(hostname): no address for $name after $((tries / 10)) s; going on without" >&2
	done
}

# cgroup/v1 if the kernel's controllers are mounted one by one, else cgroup/v2.
cgroup_version() {
	if [ -e /sys/fs/cgroup/cgroup.controllers ]; then echo v2; else echo v1; fi
}

# write_scheduler_of_suite backfill|off|full|beside: what tests/slurm-suite compares.
write_scheduler_of_suite() {
	case $1 in
	backfill) cat /opt/conf/backfill.conf /opt/conf/suite-backfill.conf ;;
	off) cat /opt/conf/suite-burst-buffer.conf /opt/conf/suite-full.conf ;;
	full) cat /opt/slurm-conf/slurm-dfrs.conf /opt/conf/deferred.conf /opt/conf/suite-full.conf ;;
	beside) cat /opt/conf/suite-burst-buffer.conf /opt/conf/suite-beside.conf ;;
	*) fail "unknown DFRS_SCHEDULER 'suite-$1'; see docker/up" ;;
	esac >/etc/slurm/scheduler.conf
	cat /opt/conf/suite.conf >>/etc/slurm/scheduler.conf
}

# /opt/conf is the repository's docker/conf, /opt/slurm-conf its slurm-conf.
write_configuration() {
	cp /opt/conf/slurm.conf /etc/slurm/slurm.conf
	{
		cat /opt/slurm-conf/cgroup.conf
		echo "CgroupPlugin=cgroup/$(cgroup_version)"
		# There is no systemd here that could make cgroups for Slurm.
		[ "$(cgroup_version)" = v1 ] || echo IgnoreSystemd=yes
	} >/etc/slurm/cgroup.conf
	case $DFRS_SCHEDULER in
	backfill-whole | backfill-shared | backfill-force4 | backfill-suspend)
		cat /opt/conf/backfill.conf "/opt/conf/$DFRS_SCHEDULER.conf" >/etc/slurm/scheduler.conf
		;;
	plain | beside | plain-shared | beside-shared) cp "/opt/conf/$DFRS_SCHEDULER.conf" /etc/slurm/scheduler.conf ;;
	dfrs)
		cat /opt/slurm-conf/slurm-dfrs.conf /opt/conf/deferred.conf /opt/conf/dfrs-partition.conf \
			>/etc/slurm/scheduler.conf
		;;
	suite-*) write_scheduler_of_suite "${DFRS_SCHEDULER#suite-}" ;;
	*) fail "unknown DFRS_SCHEDULER '$DFRS_SCHEDULER'; see docker/up" ;;
	esac
	cp /opt/conf/dfrs.conf /etc/slurm/dfrs.conf
	case $DFRS_SCHEDULER in
	suite-off) sed -i 's/^Mode=.*/Mode=off/' /etc/slurm/dfrs.conf ;;
	suite-beside) sed -i 's/^Partition=main /Partition=shared /' /etc/slurm/dfrs.conf ;;
	esac
	case ${DFRS_ACCOUNTING:-no} in
	no) echo AccountingStorageType=accounting_storage/none >/etc/slurm/accounting.conf ;;
	yes) cp /opt/conf/accounting.conf /etc/slurm/accounting.conf ;;
	*) fail "unknown DFRS_ACCOUNTING '$DFRS_ACCOUNTING'; use no or yes" ;;
	esac
	case ${DFRS_BACKUP:-no} in
	no) echo SlurmctldTimeout=60 >/etc/slurm/controllers.conf ;;
	# The backup takes over when the first has been silent for so long.
	yes) printf '%s\n' SlurmctldHost=backup SlurmctldTimeout=10 >/etc/slurm/controllers.conf ;;
	*) fail "unknown DFRS_BACKUP '$DFRS_BACKUP'; use no or yes" ;;
	esac
	case ${DFRS_CARRY:-no} in
	# As ever: Slurm's commands complain of an empty file.
	no) echo JobFileAppend=0 ;;
	yes) printf '%s\n' RequeueExitHold=125 JobFileAppend=1 ;;
	*) fail "unknown DFRS_CARRY '$DFRS_CARRY'; use no or yes" ;;
	esac >/etc/slurm/carry.conf
	echo "NodeName=n[1-$DFRS_NODES] CPUs=4 RealMemory=1000 State=UNKNOWN" >/etc/slurm/nodes.conf
	mkdir -p /var/log/slurm /var/lib/slurm/slurmctld /var/lib/slurm/slurmd
	chown slurm: /var/log/slurm /var/lib/slurm/slurmctld
}

# What starts batch jobs so that they can be carried. Copies, which are root's.
install_carrier() {
	local plugins
	plugins=$(dirname "$(find /usr/lib -name task_cgroup.so -print -quit)")
	install -D -m 711 /opt/dfrs/dfrs-carrier /usr/libexec/dfrs/dfrs-carrier
	install -m 644 /opt/dfrs/spank_dfrs_carry.so "$plugins"
	chmod 700 /var/lib/dfrs/images
	touch /var/lib/dfrs/images/lock
	echo "required spank_dfrs_carry.so images=/var/lib/dfrs/images partitions=main criu=/opt/cluster/criu" >/etc/slurm/plugstack.conf
}

# answers COMMAND...: waits until it succeeds.
answers() {
	local tries
	for tries in $(seq 1200); do
		"$@" >/dev/null 2>&1 && return
		sleep 0.1
	done
	fail "after $((tries / 10)) s this fails: $*"
}

start_mariadb() {
	install -d -o mysql -g mysql /run/mysqld /var/lib/mysql
	mariadb-install-db --user=mysql --skip-test-db >/var/log/mariadb.log 2>&1
	setsid mariadbd --user=mysql --skip-networking --innodb-buffer-pool-size=32M \
		--innodb-flush-log-at-trx-commit=2 >>/var/log/mariadb.log 2>&1 </dev/null &
	answers mariadb --execute 'SELECT 1'
	# slurmdbd would make it itself, but MariaDB 11.8.9's client library then refuses every result.
	mariadb --execute "CREATE DATABASE slurm_acct_db;
		CREATE USER slurm@localhost IDENTIFIED VIA unix_socket;
		GRANT ALL ON slurm_acct_db.* TO slurm@localhost"
}

# The database of Slurm's accounting, with an account of alice and bob: all other users are refused.
start_accounting() {
	start_mariadb
	install -o slurm -m 600 /opt/conf/slurmdbd.conf /etc/slurm/slurmdbd.conf
	install -o slurm /dev/null /run/slurmdbd.pid
	/usr/sbin/slurmdbd
	answers sacctmgr --noheader list cluster
	{
		sacctmgr --immediate add cluster mini
		sacctmgr --immediate add account lab cluster=mini
		sacctmgr --immediate add user alice,bob cluster=mini account=lab
	} >/dev/null
}

# Docker shows a container its cgroups read-only. Writing there is all that SYS_ADMIN is for.
open_cgroups() {
	local controller
	if [ "$(cgroup_version)" = v2 ]; then
		open_unified_cgroup
		return
	fi
	for controller in /sys/fs/cgroup/*/; do
		[ -L "${controller%/}" ] || mount -o remount,bind,rw "$controller"
	done
}

# In cgroup v2 a group that holds processes cannot hand its controllers on: all processes move to a
# leaf first. Slurm makes system.slice/NODE_slurmstepd.scope below.
open_unified_cgroup() {
	local process controller
	mount -o remount,rw /sys/fs/cgroup
	mkdir -p /sys/fs/cgroup/leaf /sys/fs/cgroup/system.slice
	while read -r process; do
		echo "$process" >/sys/fs/cgroup/leaf/cgroup.procs 2>/dev/null || true
	done </sys/fs/cgroup/cgroup.procs
	for controller in cpuset cpu memory pids; do
		echo +$controller >/sys/fs/cgroup/cgroup.subtree_control
	done
}

# Bounds all jobs of the node together to the CPU that they have under DFRS: what is not reserved for daemons.
share_node() {
	local quota period
	if [ "$(cgroup_version)" = v2 ]; then
		read -r quota period </sys/fs/cgroup/cpu.max
		echo "$(quota_of_jobs "$quota" "$period") $period" >/sys/fs/cgroup/system.slice/cpu.max
		return
	fi
	mkdir -p /sys/fs/cgroup/cpu/jobs
	quota=$(cat /sys/fs/cgroup/cpu/cpu.cfs_quota_us)
	period=$(cat /sys/fs/cgroup/cpu/cpu.cfs_period_us)
	echo "$period" >/sys/fs/cgroup/cpu/jobs/cpu.cfs_period_us
	quota_of_jobs "$quota" "$period" >/sys/fs/cgroup/cpu/jobs/cpu.cfs_quota_us
	# Each job's user puts its tasks there (share-node).
	chmod 666 /sys/fs/cgroup/cpu/jobs/cgroup.procs
}

# quota_of_jobs QUOTA PERIOD: microseconds of a period, of what the node has.
quota_of_jobs() {
	[[ $1 =~ ^[0-9]+$ ]] || fail "the container has no CPU quota that jobs could have a part of; see docker/compose.yaml"
	awk -v quota="$1" -v period="$2" -v reserve="${DFRS_RESERVE_CPU:-0}" 'BEGIN { printf "%d\n", quota - reserve * period }'
}

thaw_everything() {
	find /sys/fs/cgroup -name freezer.state -exec sh -c 'echo THAWED >"$1"' _ {} \; 2>/dev/null || true
	find /sys/fs/cgroup -name cgroup.freeze -exec sh -c 'echo 0 >"$1"' _ {} \; 2>/dev/null || true
}
