#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# expect-12: carried
# expect: refused named pipe
# make -j3 with a make below it, which share one job server: a pipe, or, from make 4.4 on, a FIFO.

set -euo pipefail
export TMPDIR=$PWD
cat >inner.mk <<'MAKE'
all: $(foreach n,1 2 3 4 5 6 7 8 9 10 11 12,outer-$(n))
	@cat outer-* inner-* | sort | md5sum
outer-%: inner
	@sleep 1; echo outer $* >$@
inner:
	@$(MAKE) --no-print-directory -f inner.mk below
below: $(foreach n,1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18,inner-$(n))
inner-%:
	@sleep 1.5; echo inner $* >$@
MAKE
make -s -j3 -f inner.mk all &
making=$!
for check in $(seq 12); do
	echo "check $check"
	sleep 1
done
status=0
wait $making || status=$?
echo "make ended with $status"
