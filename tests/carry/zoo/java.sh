#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# expect: carried
# Java: compiled while it runs, garbage collected, two threads; without its file in /tmp, which is the node's.

exec java -Xmx64m -XX:-UsePerfData -Djava.io.tmpdir=. -cp "$ZOO_BUILT" Steps
