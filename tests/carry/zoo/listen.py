#!/usr/bin/python3 -u
# SPDX-License-Identifier: GPL-2.0-or-later
# expect: carried
# Sockets that wait: TCP that listens, bound UDP, and a listening unix socket with an abstract name.

import os
import socket
import time

number = int(os.environ.get("SLURM_JOB_ID", "1")) % 10000
tcp = socket.socket()
tcp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
tcp.bind(("127.0.0.1", 30000 + number))
tcp.listen()
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.bind(("127.0.0.1", 40000 + number))
unix = socket.socket(socket.AF_UNIX)
name = "\0carry-zoo-%d" % number
unix.bind(name)
unix.listen()
for step in range(26):
    print(step)
    time.sleep(0.5)
for family, listener, address in ((socket.AF_INET, tcp, tcp.getsockname()), (socket.AF_UNIX, unix, name)):
    client = socket.socket(family)
    client.connect(address)
    server = listener.accept()[0]
    client.sendall(b"hello")
    print(server.recv(9))
client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
client.sendto(b"datagram", udp.getsockname())
print(udp.recv(9))
