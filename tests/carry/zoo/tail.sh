#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# expect: carried
# tail -f of a log that another process writes: it waits by inotify.

set -euo pipefail
echo start >log.txt
(
	for line in $(seq 24); do
		sleep 0.5
		echo "line $line" >>log.txt
	done
	echo end >>log.txt
) &
tail -n +1 --pid=$! -f log.txt
wait
wc -l <log.txt
