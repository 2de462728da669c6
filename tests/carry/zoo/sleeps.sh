#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# expect: carried
# Long sleeps of small programs, one that timeout(1) ends, a read with a time limit, and the shell's own clock.

set -uo pipefail
echo "begin"
sleep 4
echo "slept"
timeout 4 sleep 100
echo "timeout ended with $?"
# A pipe without a name: one with a name keeps a job where it is.
exec 3< <(exec sleep 100)
read -r -t 4 -u 3 _
echo "read ended with $(($? > 128))"
sleep 3 &
wait $!
echo "waited, status $?"
