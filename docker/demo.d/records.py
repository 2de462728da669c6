# SPDX-License-Identifier: GPL-2.0-or-later
"""What the jobs themselves noted: when they began and ended, and how much work their tasks did."""

from dataclasses import dataclass

# A task looks at its work after each slice, so it may do a little more than it has to. The report
# has milliseconds.
WORK_TOLERANCE = 0.01
# Work since the last checkpoint is lost when a job is requeued; more than this is not the workload's.
SECONDS_REDONE = 5


@dataclass(frozen=True)
class Outcome:
    """One job's history, in UNIX seconds."""

    name: str
    submitted: float
    begun: float
    ended: float
    work: float
    tasks: int
    restarts: int
    redone: float

    @property
    def wait(self):
        return self.begun - self.submitted

    @property
    def flow(self):
        return self.ended - self.submitted

    @property
    def stretch(self):
        """Bounded at 10 s, as in the TPDS paper."""
        return max(1.0, self.flow / max(10.0, self.work))

    @property
    def slowdown(self):
        """The stretch without a bound."""
        return self.flow / self.work


def submissions(files):
    """Label -> time of submission."""
    lines = (line.split() for line in files.get("submitted", "").splitlines())
    return {label: float(time) for time, label, job in lines if job not in ("-", "refused")}


def outcomes(jobs, files, core_per_cpu):
    """(outcomes, problems): a problem is a line about a job that did not do its work exactly once."""
    submitted = submissions(files)
    good, problems = [], []
    for name, row in jobs.items():
        try:
            if row.label not in submitted:
                raise ValueError("sbatch refused it")
            good.append(outcome(name, row, submitted[row.label], files, core_per_cpu))
        except ValueError as error:
            problems.append(f"{name} (sbatch {row.options}): {error}")
    return good, problems


def outcome(name, row, submitted, files, core_per_cpu):
    lines = [line.split() for line in files.get(f"{name}.job", "").splitlines()]
    begins = [line for line in lines if line[1] == "begin"]
    ends = [line for line in lines if line[1] == "end" and line[4] == "0"]
    if not begins:
        raise ValueError("never began")
    if not ends:
        raise ValueError("began and did not end well: " + last_words(name, files))
    # A job that keeps its progress may be requeued just as it ends: it then has nothing left to do.
    if len(ends) > 1 and row.mobility != "checkpoint":
        raise ValueError(f"ended {len(ends)} times")
    redone = [task_redone(name, task, row, files) for task in range(row.tasks)]
    return Outcome(
        name,
        submitted,
        float(begins[0][0]),
        float(ends[-1][0]),
        row.work,
        row.tasks,
        len(begins) - 1,
        max(redone) / (core_per_cpu * cpus_per_task(row)),
    )


def cpus_per_task(row):
    words = row.options.split()
    return int(words[words.index("-c") + 1]) if "-c" in words else 1


def last_words(name, files):
    label, _, index = name.partition(".")
    for suffix in (index, "0", "4294967294"):
        text = files.get(f"{label}.{suffix}.out", "").strip()
        if text:
            # srun's own line comes last and says little: the reason is above it.
            return " / ".join(text.splitlines()[-3:])
    return "nothing in its output"


def task_redone(name, task, row, files):
    """CPU seconds of work that a task did twice; ValueError if it did not do all of it exactly once."""
    text = files.get(f"{name}.task{task}")
    if text is None:
        raise ValueError(f"task {task} never began")
    redone = done = total = 0.0
    event = None
    for line in text.splitlines():
        _, event, *fields = line.split()
        values = dict(field.split("=", 1) for field in fields)
        if event == "start":
            total = float(values["total"])
            redone += done - float(values["done"])
            if float(values["done"]) > done + WORK_TOLERANCE:
                raise ValueError(f"task {task} went on from work that it never did")
        done = float(values["done"])
    if event != "finish":
        raise ValueError(f"task {task} did not finish; its last word is '{event}'")
    if abs(done - total) > WORK_TOLERANCE + 0.01 * total:
        raise ValueError(f"task {task} did {done:.3f} of {total:.3f} CPU seconds")
    if redone > 0 and row.mobility != "checkpoint":
        raise ValueError(f"task {task} lost {redone:.3f} CPU seconds of work")
    if redone > SECONDS_REDONE * total / row.work:
        raise ValueError(f"task {task} did {redone:.3f} CPU seconds twice in spite of its checkpoints")
    return redone


def task_window(name, row, files):
    """(begin, end) of the longest time in which all of a job's tasks worked; None if there is none."""
    begin, end = 0.0, float("inf")
    for task in range(row.tasks):
        lines = [line.split() for line in files.get(f"{name}.task{task}", "").splitlines()]
        starts = [float(line[0]) for line in lines if line[1] == "start"]
        ends = [float(line[0]) for line in lines if line[1] in ("finish", "stop")]
        if len(starts) != 1 or len(ends) != 1:
            return None
        begin, end = max(begin, starts[0]), min(end, ends[0])
    return (begin, end) if end > begin else None
