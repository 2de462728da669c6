#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Processes that start processes, as many as there may be.
ulimit -u "${PROCESSES:-2000}"
bomb() { while :; do sleep 1000 & done; }
for _ in 1 2 3 4; do
	bomb 2>/dev/null &
done
wait
