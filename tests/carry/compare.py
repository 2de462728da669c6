# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether a carried run wrote what an undisturbed one did."""

import re

# Slurm's own words about the requeue, which it writes into the job's output.
REQUEUE = re.compile(rb"slurmstepd[^\n]*\*\*\* JOB \d+ ON \S+ CANCELLED AT [^\n]* DUE TO JOB REQUEUE \*\*\*\n")


# What the plugin writes there when an image is not restored.
PLUGIN = re.compile(rb"slurmstepd[^\n]*: error: dfrs carry: [^\n]*\n")


def without_plugin(output):
    """Without the words of spank_dfrs_carry.so, which only a failed restore brings."""
    return PLUGIN.sub(b"", output)


def without_requeue(output):
    """The program's own output: Slurm's line may stand within one of its lines, if that was not complete yet."""
    return REQUEUE.sub(b"", output)


def program_lines(output):
    """The lines of a program that was cancelled: without anything of Slurm's."""
    lines = without_requeue(output).splitlines(True)
    return [line for line in lines if b"slurmstepd" not in line]


def is_beginning(expected, found):
    """Whether the program's lines are those that an undisturbed run begins with, but for what its trap printed at last."""
    lines, whole = program_lines(found), expected.splitlines(True)
    if lines and lines[-1].split()[:2] == whole[-1].split()[:2]:
        lines.pop()
    return lines == whole[:len(lines)]


def difference(expected, found):
    """One line that says where they differ first, or nothing."""
    found = without_requeue(found)
    if expected == found:
        return ""
    first, second = expected.splitlines(), found.splitlines()
    for number, (left, right) in enumerate(zip(first, second), 1):
        if left != right:
            return f"line {number} is {right!r}, not {left!r}"
    if len(first) == len(second):
        return "the last line is not complete"
    return f"{len(second)} lines, not {len(first)}"


def begins_again(expected, found):
    """Whether the output holds the run's beginning twice: the job began again without a word."""
    head = b"".join(expected.splitlines(True)[:3])
    return bool(head) and without_requeue(found).count(head) > 1
