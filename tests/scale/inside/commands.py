# SPDX-License-Identifier: GPL-2.0-or-later
"""Slurm's commands, timed and bounded in time."""

import subprocess
import time

# A command that takes longer has not been answered.
LIMIT = 60


class Unanswered(Exception):
    """A command failed or was not answered in time: one line."""


def run(*command, limit=LIMIT):
    """What the command prints."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        raise Unanswered(f"{command[0]}: not answered within {limit} s") from None
    if done.returncode:
        problem = (done.stderr.strip() or "no message").splitlines()[-1]
        raise Unanswered(f"{command[0]}: exit code {done.returncode}: {problem}")
    return done.stdout


def timed(*command):
    """What the command prints, and the seconds it took."""
    begin = time.monotonic()
    output = run(*command)
    return output, time.monotonic() - begin


def submit(shape, name, tasks=None):
    """Submits a job, or an array of so many; its id as sbatch prints it, the instant of the call (clock of the day) and
    the seconds that it took. Without nodes nothing runs: the script is never read."""
    array = [f"--array=1-{tasks}"] if tasks else []
    called = time.time()
    output, seconds = timed("sbatch", "--parsable", f"--job-name={name}", "--time=600", "--chdir=/",
                            "--output=/dev/null", *array, *shape.options(), "--wrap=true")
    return output.split(";")[0].strip(), called, seconds
