#!/usr/bin/python3 -u
# SPDX-License-Identifier: GPL-2.0-or-later
# expect: refused pts|ptmx|terminal|pty
# A program below a pseudo-terminal, as expect and script(1) make it.

import os
import pty
import time

child, terminal = pty.fork()
if child == 0:
    os.execvp("sh", ["sh", "-c", "stty -echo; echo ready; while read -r line; do echo \"<$line>\"; done"])
answers = os.fdopen(terminal, "rb", buffering=0)
while b"ready" not in answers.readline():
    pass
for step in range(26):
    os.write(terminal, b"%d\n" % step)
    line = b""
    while not line.startswith(b"<"):
        line = answers.readline().strip()
    print(step, line.decode())
    time.sleep(0.5)
