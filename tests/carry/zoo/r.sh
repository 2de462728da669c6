#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# expect: carried
# R: linear algebra, the random generator's state, a connection that stays open; its own directory is not in /tmp.

TMPDIR=. exec Rscript --vanilla "$ZOO/steps.R"
