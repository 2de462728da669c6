#!/usr/bin/python3 -u
# SPDX-License-Identifier: GPL-2.0-or-later
# expect: carried
# A server and its client within the job, on the loopback interface, one a thread of the other.

import os
import socket
import threading
import time

# Jobs on the same node take other ports.
port = 20000 + int(os.environ.get("SLURM_JOB_ID", "1")) % 10000
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("127.0.0.1", port))
listener.listen()


def serve(connection):
    lines = connection.makefile("rw")
    for line in lines:
        lines.write("%d\n" % (int(line) ** 2))
        lines.flush()


def accept():
    while True:
        threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()


threading.Thread(target=accept, daemon=True).start()
client = socket.create_connection(("127.0.0.1", port)).makefile("rw")
for step in range(26):
    client.write("%d\n" % step)
    client.flush()
    print(step, client.readline().strip())
    time.sleep(0.5)
later = socket.create_connection(("127.0.0.1", port)).makefile("rw")
later.write("99\n")
later.flush()
print("a later client:", later.readline().strip())
