#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# expect: carried
# Every kind of wait that ends by time, each in a thread: none may be cut short.

exec "$ZOO_BUILT/waits"
