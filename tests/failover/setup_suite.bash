# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Before the first test.

# The policy by which a new job preempts others at once, on both hosts.
setup_suite() {
	# shellcheck source=../e2e/helpers.bash
	. "$(dirname "${BASH_SOURCE[0]}")/../e2e/helpers.bash"
	for host in controller backup; do
		in_cluster $host sh -c 'sed "s#^Policy=.*#Policy=GreedyPM*/per/OPT=MIN/MINVT=20#; /^MoveCost=/d" /opt/conf/dfrs.conf >/etc/slurm/dfrs.conf'
	done
	in_cluster controller /opt/cluster/service slurmctld restart
}
