#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""server.py PORT: a server elsewhere, for the program tcp-outside: it answers each number with its square."""

import socketserver
import sys


class Squares(socketserver.StreamRequestHandler):
    def handle(self):
        for line in self.rfile:
            self.wfile.write(b"%d\n" % (int(line) ** 2))


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True


def listen(port=0):
    """A server on all addresses; port 0 is a free one."""
    return Server(("", port), Squares)


if __name__ == "__main__":
    listen(int(sys.argv[1])).serve_forever()
