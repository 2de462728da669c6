#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# expect: carried
# Fortran with open units: formatted, direct access, and a scratch file that has no name any more. Exit code 3.

TMPDIR=. exec "$ZOO_BUILT/fortran"
