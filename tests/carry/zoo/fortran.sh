#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# expect: carried
# Fortran with open units: formatted, direct access and unformatted. Exit code 3.

exec "$ZOO_BUILT/fortran"
