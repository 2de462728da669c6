#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A step every few seconds: a job is left alone while it launches one.
while :; do
	srun --overlap --ntasks=1 --mem=0 true
	sleep 8
done &
exec python3 "$HOSTILE/memory.py" hold $((MEMORY - 100))
