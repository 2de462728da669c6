#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# expect: carried
# A static binary, which no preloaded library would see. Exit code 9.

exec "$ZOO_BUILT/static"
