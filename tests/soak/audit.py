# SPDX-License-Identifier: GPL-2.0-or-later
"""What must hold when everything is over."""

import datetime
import re
from collections import Counter

from carries import began_again
from cluster import Failure
from report import few
from submissions import DIRECTORY

# slurmctld writes its jobs five seconds after a change at the latest (SAVE_MAX_WAIT, Slurm 24.11). What a kill
# makes it forget is Slurm's: a job that was submitted just before, and that one has ended, which it requeues
# as soon as it misses it on its node.
SAVED_AFTER_SECONDS = 6
ENDED = {"COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL", "OUT_OF_MEMORY", "DEADLINE"}
# What srun says, and ends with it, if it needs slurmctld or a slurmd that does not answer (Slurm 22.05 and 24.11).
UNREACHABLE = re.compile(r"^srun: error: .*(Unable to confirm allocation|Unable to contact slurm controller|"
                         r"Task launch for \S+ failed on node|Unable to create step)", re.MULTILINE)
# These lines of DFRS's are errors of the faults, not of DFRS.
EXPECTED_ERRORS = ("dfrsd not responding", "was killed before", "No space left on device")


def run(site, jobs, acts, watchers):
    """A line "ok ..." or "FAILED ...: evidence" for each thing."""
    known = [job for job in jobs.submitted if job.forgotten is None]
    forgotten = [job for job in jobs.submitted if job.forgotten is not None]
    files = site.cluster.files("controller", DIRECTORY)
    # Their own scripts failed, as they would under any scheduler.
    cut_off = {name for job in known for name in job.names() if was_cut_off(files, name, acts.outages)}
    checks = [
        ("slurmctld forgot only what was young when it was killed", few(
            f"{job.label}, {job.identity}: {job.forgotten:.0f} s" for job in forgotten
            if job.forgotten > SAVED_AFTER_SECONDS)),
        *accounting(site, known, {identity for job in forgotten for identity in job.ids()}, cut_off),
        *work(site, known, acts.kills, files, cut_off),
        *nodes(site),
        *controller(site),
        *(finding for watcher in watchers for finding in watcher.findings()),
    ]
    return [f"FAILED {name}: {evidence}" if evidence else f"ok {name}" for name, evidence in checks]


# --- accounting -----------------------------------------------------------------------------------------

def accounting(site, jobs, given_again, cut_off):
    """given_again: ids that slurmctld forgot; the database may hold two jobs under one. cut_off: names of jobs whose
    srun could not reach a daemon."""
    ids = [identity for job in jobs for identity in job.ids() if identity not in given_again]
    records = sacct(site, sorted({job.identity for job in jobs}, key=int))
    counts = Counter(record["JobID"] for record in records)
    cancelled = {identity for job in jobs if "cancel" in job.acts for identity in job.ids()}
    # A task that is cancelled before it has a record of its own gets none.
    optional = {identity for identity in cancelled if "_" in identity}
    yield "every job is in sacct once", few(
        f"{i}: {counts[i]} times" for i in ids if counts[i] != 1 and not (i in optional and counts[i] == 0))
    mine = {record["JobID"]: record for record in records if record["JobID"] in set(ids)}
    yield "every job has ended in sacct", few(
        f"{i}: {record['State']}" for i, record in mine.items() if record["State"].split()[0] not in ENDED)
    yield "sacct shows no impossible times", few(impossible(mine.values()))
    excused = cancelled | {i for job in jobs for i, name in zip(job.ids(), job.names()) if name in cut_off}
    yield "no job ended but by itself or its user", few(
        f"{i}: {record['State']}" for i, record in mine.items()
        if i not in excused and record["State"].split()[0] != "COMPLETED")


def sacct(site, ids):
    """The jobs by their ids: of a window of time it leaves out jobs that are not eligible, and Slurm makes one so
    that is held in the moment of its start, for good (_hold_job_rec, 22.05.8 and 24.11.5)."""
    fields = ("JobID", "State", "Submit", "Start", "End", "ElapsedRaw")
    code, text = site.attempt("controller", "sacct", "--allusers", "--allocations", "--noheader", "--parsable2",
                              f"--jobs={','.join(ids)}", "--format=" + ",".join(fields))
    if code:
        raise Failure(f"sacct failed: {text}")
    rows = (line.split("|") for line in text.splitlines())
    return [dict(zip(fields, row)) for row in rows if len(row) == len(fields)]


def impossible(records):
    for record in records:
        submit, start, end = record["Submit"], record["Start"], record["End"]
        if start[:1].isdigit() and end[:1].isdigit() and not submit <= start <= end:
            yield f"{record['JobID']}: submitted {submit}, started {start}, ended {end}"


def completions(site):
    """name of a job or task -> when slurmctld learned that it was completed, in seconds since the epoch."""
    code, text = site.attempt("controller", "cat", "/var/log/slurm/jobcomp.log")
    found = {}
    for line in text.splitlines():
        fields = dict(field.split("=", 1) for field in line.split() if "=" in field)
        if fields.get("JobState") == "COMPLETED":
            task = fields.get("ArrayTaskId")
            # The containers' clocks show UTC.
            end = datetime.datetime.fromisoformat(fields["EndTime"] + "+00:00").timestamp()
            found.setdefault(fields["Name"] + (f".{task}" if task else ""), []).append(end)
    return found


def twice(ends, kills):
    """When, and when slurmctld was killed after the first time, in seconds from that."""
    after = [f"{kill - ends[0]:.0f}" for kill in kills if kill >= ends[0]][:3]
    return f"again after {', '.join(f'{end - ends[0]:.0f}' for end in ends[1:])} s, slurmctld killed after {', '.join(after) or 'none'}"


def was_forgotten(ends, kills):
    """Whether slurmctld was killed before it had written what happened at one of these times, in whole seconds."""
    return any(0 <= kill - end < SAVED_AFTER_SECONDS + 1 for end in ends for kill in kills)


# --- work ---------------------------------------------------------------------------------------------------

def work(site, jobs, kills, files, cut_off):
    ends = completions(site)
    excused = {name for name, times in ends.items() if was_forgotten(times[:-1], kills)}
    yield "no job completed twice in jobcomp", few(
        f"{name}: {twice(times, kills)}" for name, times in ends.items() if len(times) > 1 and name not in excused)
    missing = []
    for job in jobs:
        if "cancel" in job.acts:
            continue
        for name in set(job.names()) - cut_off:
            missing += [f"{name} task {task}: {words}" for task in range(job.tasks)
                        if (words := last_word(files, name, task)) != "finish"]
    yield "every task of every job that was not cancelled did all of its work", few(missing)
    again = []
    for job in jobs:
        if not job.acts:
            again += [f"{name}: {count} ends" for name in job.names()
                      if (count := good_ends(files, name)) > 1 and name not in excused
                      and not was_forgotten(begins(files, name), kills)]
    yield "no job without acts on it did its work twice", few(again)
    yield "no job that can be carried began again", few(began_again(jobs, files, kills))


def last_word(files, name, task):
    lines = files.get(f"{name}.task{task}", "").splitlines()
    return lines[-1].split()[1] if lines else "never began"


def was_cut_off(files, name, outages):
    """Whether its last run failed by what srun says when it reaches no daemon, and one was away in its time."""
    runs = [line.split() for line in files.get(f"{name}.job", "").splitlines()]
    if len(runs) < 2 or [run[1] for run in runs[-2:]] != ["begin", "end"] or runs[-1][4] == "0":
        return False
    begin, end = float(runs[-2][0]), float(runs[-1][0])
    # A job that is in no array has the largest number for its task's.
    said = "".join(files.get(f"{name}{task}.out", "") for task in ("", ".4294967294"))
    return bool(UNREACHABLE.search(said)) and any(start <= end and begin <= over for start, over in outages)


def begins(files, name):
    """When it began, by its own account, in seconds since the epoch: a start is forgotten as an end is."""
    lines = [line.split() for line in files.get(f"{name}.job", "").splitlines()]
    return [float(line[0]) for line in lines if line[1] == "begin"]


def good_ends(files, name):
    lines = [line.split() for line in files.get(f"{name}.job", "").splitlines()]
    return sum(line[1] == "end" and line[4] == "0" for line in lines)


# --- nodes ---------------------------------------------------------------------------------------------------

LEFTOVERS = (
    ("nothing is frozen", "find /sys/fs/cgroup -name freezer.state -path '*job_*' | xargs -r grep -l FROZEN"),
    ("no cgroup of a job is left", "find /sys/fs/cgroup -type d -name 'job_*'"),
    ("no process of a job is left", "pgrep -lx dfrs-burn; pgrep -lx slurmstepd"),
    ("dfrsd knows of no job", "dfrsd status --node $(hostname) --json | grep -o '\"id\": *[0-9]*'"),
)


def nodes(site):
    for name, command in LEFTOVERS:
        found = ((node, " ".join(site.attempt(node, "sh", "-c", command)[1].split())) for node in site.nodes())
        yield f"on all nodes {name}", few(f"{node}: {what}" for node, what in found if what)


# --- controller ------------------------------------------------------------------------------------------------

def controller(site):
    _, text = site.attempt("controller", "scontrol", "--oneliner", "show", "node")
    used = re.findall(r"NodeName=(\S+) .*AllocMem=([1-9]\d*)", text)
    yield "no memory of a node is counted as used", few(used)
    _, states = site.attempt("controller", "sinfo", "--noheader", "--Node", "--format=%N %t")
    yield "all nodes are idle", few(line for line in states.splitlines() if not line.endswith(" idle"))
    code, text = site.attempt("controller", "dfrs", "check", "/var/log/slurm/dfrs-journal.jsonl", seconds=600)
    yield "the journal is valid", "" if code == 0 else text
    _, log = site.attempt("controller", "grep", "-E", "(error|fatal): .*dfrs", "/var/log/slurm/slurmctld.log")
    kinds = Counter(kind(line) for line in log.splitlines() if not any(word in line for word in EXPECTED_ERRORS))
    yield "DFRS logged no error", few(f"{count} times {words}" for words, count in kinds.most_common())
    _, log = site.attempt("controller", "grep", "-ciE", "internal error|plan dropped|decision dropped", "/var/log/slurm/slurmctld.log")
    yield "nothing in DFRS panicked", "" if log.strip() == "0" else f"{log} lines"


def kind(line):
    """The line without its time, and without the numbers that differ from one to the next."""
    return re.sub(r"\d+", "N", line.split("] ", 1)[-1])
