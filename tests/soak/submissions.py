# SPDX-License-Identifier: GPL-2.0-or-later
"""Users: what is submitted when. Most jobs are short and small, a few long, wide or hungry."""

import re
import time
from dataclasses import dataclass, field

from workload import NODE_CPUS

DIRECTORY = "/home/alice/soak"
SCRIPT = "/opt/demo/job.sh"

SHAPES = (
    # weight, options, MB a task
    (30, "-n 1 --mem=100", 70),
    (12, "-n 1 --mem=400", 350),
    (6, "-n 1 --mem=900", 800),
    (10, "-n 2 --mem-per-cpu=100", 70),
    (6, "-n 4 --mem-per-cpu=150", 110),
    (4, "-n 8 --mem-per-cpu=100", 60),
    (2, "-n 4 --ntasks-per-node=1 --mem=600", 500),
    (3, "-N 1 --exclusive -n 4 --mem=600", 100),
    (3, "-n 1 --mem=150 --array=1-5%2", 100),
)
# Of dfrs-burn, in cores.
MIN_RATE = 0.01
# Requests all CPUs of a node and uses an eighth, where needs are measured.
IDLER = (20, "-n 1 -c 4 --mem=100", 70)
MOBILITIES = ((6, "park"), (2, "checkpoint"), (1, "restart"), (1, "never"))
# Of jobs of one task, where jobs can be carried.
MORE_MOBILITIES = ((20, "carry"),)


@dataclass
class Job:
    """One sbatch: its job, or its array's tasks, and what was done to them."""

    label: str
    identity: str
    mobility: str
    tasks: int
    array: list
    # In seconds of time.monotonic().
    submitted: float
    acts: set = field(default_factory=set)
    # How old it was when slurmctld was killed and did not know it afterwards.
    forgotten: float | None = None

    def ids(self):
        return [f"{self.identity}_{index}" for index in self.array] or [self.identity]

    def names(self):
        return [f"{self.label}.{index}" for index in self.array] or [self.label]


def pick(chance, weighted):
    choices = [choice for _, *choice in weighted]
    found = chance.choices(choices, [weight for weight, *_ in weighted])[0]
    return found[0] if len(found) == 1 else found


class Submissions:
    def __init__(self, site, chance, between, machine, needs, carry):
        self.site, self.chance, self.between, self.machine = site, chance, between, machine
        self.shapes = (*SHAPES, IDLER) if needs == "measured" else SHAPES
        self.carry = carry
        self.submitted = []
        self.refused = []
        self.next = time.monotonic()
        site.control("install", "-d", "-o", "alice", DIRECTORY)

    def step(self):
        if time.monotonic() < self.next:
            return
        self.next = time.monotonic() + self.chance.expovariate(1 / self.between)
        self.submit()

    def submit(self):
        label = f"s{len(self.submitted) + len(self.refused) + 1:04}"
        options, memory = pick(self.chance, self.shapes)
        can_be_carried = self.carry and options.startswith("-n 1 ")
        mobility = pick(self.chance, MOBILITIES + MORE_MOBILITIES if can_be_carried else MOBILITIES)
        work = min(90, max(2, int(self.chance.lognormvariate(2, 0.9))))
        core_per_cpu = self.machine.core_per_cpu
        if options == IDLER[1]:
            # Its need is lowered after a minute of little use.
            work, core_per_cpu = self.chance.randint(90, 300), max(core_per_cpu / 8, MIN_RATE / NODE_CPUS)
        if mobility == "carry":
            # Its node has to have said that it can be carried, and then to be drained.
            work = self.chance.randint(30, 150)
        extra = ["--signal=USR1@5"] if mobility == "checkpoint" else []
        if self.chance.random() < 0.05:
            extra.append("--begin=now+20")
        environment = [f"RUN={DIRECTORY}", f"WORK={work}", f"MEMORY={int(memory * self.machine.memory)}",
                       f"MOBILITY={mobility}", f"CORE_PER_CPU={core_per_cpu:.4f}"]
        code, answer = self.site.attempt(
            "controller", "env", *environment, "sbatch", "--parsable", "--requeue", "--job-name", label,
            "--output", f"{DIRECTORY}/{label}.%a.out", "--chdir", DIRECTORY, "--open-mode=append",
            f"--comment=dfrs:{mobility}", "--time=15", *extra, *options.split(), SCRIPT, user="alice")
        identity = answer.splitlines()[-1] if answer else ""
        self.site.note(f"sbatch {label} {options} work={work} {mobility} {' '.join(extra)} -> {identity}")
        if code or not identity.isdecimal():
            self.refused.append((label, answer))
            return
        tasks = int(re.search(r"-n (\d+)", options).group(1))
        array = [1, 2, 3, 4, 5] if "--array" in options else []
        self.submitted.append(Job(label, identity, mobility, tasks, array, time.monotonic()))

    def look_for_forgotten(self, killed):
        """Marks the jobs of the last minute before `killed` that slurmctld does not know any more."""
        for job in self.submitted:
            age = killed - job.submitted
            if job.forgotten is None and age < 60 and job.label not in self.names_of(job.identity):
                job.forgotten = max(age, 0.0)
                self.site.note(f"slurmctld forgot {job.label}, {job.identity}, submitted {age:.1f} s before its end")

    def names_of(self, identity):
        """The names of what slurmctld knows under this id: it gives ids that it forgot again."""
        return re.findall(r"\bJobName=(\S+)", self.site.attempt("controller", "scontrol", "show", "job", identity)[1])
