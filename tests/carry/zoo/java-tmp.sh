#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# expect: refused /tmp
# Java as it is started everywhere: it maps a file of figures in the node's /tmp.

exec java -Xmx64m -cp "$ZOO_BUILT" Steps
