#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# expect: refused pts|ptmx|terminal|pty
# tmux: a server with a pseudo-terminal, as people leave it running in a job.

# shellcheck disable=SC2016 # variables of inner shells
set -euo pipefail
export TMUX_TMPDIR=$PWD
tmux -f /dev/null new-session -d -s zoo 'for step in $(seq 24); do echo $step >>steps.txt; sleep 0.5; done'
for check in $(seq 13); do
	echo "check $check"
	sleep 1
done
while tmux has-session -t zoo 2>/dev/null; do sleep 0.2; done
wc -l <steps.txt
md5sum steps.txt
