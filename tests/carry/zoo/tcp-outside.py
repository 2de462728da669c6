#!/usr/bin/python3 -u
# SPDX-License-Identifier: GPL-2.0-or-later
# expect: refused TCP
# A client of a server elsewhere, which knows the connection: it asks it for squares. ZOO_SERVER is host:port.

import os
import socket
import time

host, port = os.environ["ZOO_SERVER"].rsplit(":", 1)
connection = socket.create_connection((host, int(port)))
lines = connection.makefile("rw")
for step in range(26):
    lines.write("%d\n" % step)
    lines.flush()
    print(step, lines.readline().strip())
    time.sleep(0.5)
