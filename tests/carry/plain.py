#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""plain.py [--at-once N] DIRECTORY [NAME...]: runs the programs of the zoo twice each, without Slurm, and compares.

What differs between two plain runs cannot be compared after a carry.
DIRECTORY is for what they write; the compiled ones are made in DIRECTORY/built. Those with srun are left out."""

import argparse
import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import threading
import time

import programs
import server

SHORTEST, LONGEST = 12, 20


def run(program, directory, environment):
    """Output, exit code and seconds of one run."""
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    begin = time.monotonic()
    with open(directory / "out.txt", "wb") as out:
        # A session of its own, as a batch script has.
        code = subprocess.run([program.path], cwd=directory, env=environment, stdin=subprocess.DEVNULL, stdout=out,
                              stderr=subprocess.STDOUT, start_new_session=True, timeout=120).returncode
    return (directory / "out.txt").read_bytes(), code, time.monotonic() - begin


def check(program, directory, environment):
    """One line about two runs."""
    first, second = (run(program, directory / f"{program.name}.{number}", environment) for number in (1, 2))
    wrong = []
    if first[:2] != second[:2]:
        wrong.append(f"they differ, compare {directory}/{program.name}.[12]/out.txt")
    if len(first[0].splitlines()) < 4:
        wrong.append("it prints next to nothing")
    if not all(SHORTEST - 0.5 <= seconds <= LONGEST for *_, seconds in (first, second)):
        wrong.append(f"it does not take {SHORTEST} to {LONGEST} s")
    word = "FAILED" if wrong else "ok"
    return f"{word} {program.name}: {first[2]:.1f} and {second[2]:.1f} s, exit {first[1]} {'; '.join(wrong)}".rstrip()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--at-once", type=int, default=6, metavar="N")
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    directory = arguments.directory.resolve()
    subprocess.run(["make", "-s", "-C", programs.ZOO, f"OUT={directory}/built"], check=True)
    found = [program for program in programs.chosen(arguments.names, 13) if not program.name.startswith("srun")]
    listener = server.listen()
    threading.Thread(target=listener.serve_forever, daemon=True).start()
    environment = os.environ | {"ZOO": str(programs.ZOO), "ZOO_BUILT": str(directory / "built"),
                                "ZOO_SERVER": f"127.0.0.1:{listener.server_address[1]}",
                                "PATH": "/usr/bin:" + os.environ["PATH"]}
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.at_once) as pool:
        for line in pool.map(lambda program: check(program, directory, environment), found):
            print(line, flush=True)
            failed += line.startswith("FAILED")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
