#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kills.py [--project NAME] [--count N] [--seed N] [--at-once N] [--fault WORD]

Carries jobs of the zoo, a fault in each carry at a random moment; of a fault that meets all jobs, as slurmctld's end,
so many carries at once are met. Then the job may go on in place, go on elsewhere, wait with its image, be held with its
image, or be cancelled as it was asked for; what waits is started again, as an operator would. It must never run twice
at once, begin again, or be lost, and its output must be that of an undisturbed run. Prints a line for each carry and
how often a fault ended in which way."""

import argparse
import collections
import concurrent.futures
import dataclasses
import os
import random
import sys
import time

import cluster as clusters
import compare
import copies
import faults
import programs
import zoo
from settling import GONE_ON, Settling

# A failed dump cuts timed waits of the job that goes on in place short, which these programs bear.
PROGRAMS = ("state", "sqlite", "pool", "locks", "heredoc", "static", "mapped", "pipeline")
# A way of a job that was over, or its carry had failed, before the fault came.
MISSED = "missed"


@dataclasses.dataclass(frozen=True)
class Task:
    """One carry that is to be made."""

    index: int
    fault: faults.Fault
    program: programs.Program


@dataclasses.dataclass(frozen=True)
class Met:
    """One carry that a fault has met, and what becomes of its job."""

    task: Task
    carry: faults.Carry
    directory: str
    settling: Settling


class Kills:
    def __init__(self, cluster, watch, seed):
        self.cluster = cluster
        self.watch = watch
        self.zoo = zoo.Zoo(cluster, watch, seed)
        self.seed = seed
        self.expected = {}

    def reference(self, program):
        """The undisturbed run of that program, once."""
        outcome = zoo.Outcome(program)
        run = self.zoo.undisturbed(program, f"{program.name}.kills", outcome)
        if outcome.wrong:
            raise RuntimeError(f"{program.name}, undisturbed: {outcome.wrong[0]}")
        self.expected[program.name] = run

    def round(self, tasks):
        """Carries that one fault meets together; of each its task, what was wrong, and the ways of the job."""
        fault, rng = tasks[0].fault, random.Random(f"{self.seed} {tasks[0].index}")
        self.cluster.resume_nodes()
        try:
            # The fault goes on beside the steps that it meets.
            with concurrent.futures.ThreadPoolExecutor(2 * len(tasks)) as pool:
                met = list(pool.map(self.begin, tasks, *zip(*places(self.cluster.nodes, len(tasks), rng))))
                time.sleep(faults.STATE_SECONDS if fault.shared else rng.uniform(0.2, 6))
                self.disturb(fault, met, pool)
                return list(pool.map(self.end, met))
        except (RuntimeError, OSError) as error:
            return [(task, [str(error)], ["LOST"]) for task in tasks]

    def begin(self, task, source, target):
        """Starts the job that is to be carried."""
        name = f"{task.program.name}.kill{task.index}"
        number, directory = self.submit(task.program, name, source)
        carry = faults.Carry(self.cluster, number, source, target, random.Random(f"{self.seed} {name}"))
        mend = None if task.fault.step == "dump" else task.fault.mend
        return Met(task, carry, directory, Settling(self.cluster, self.watch, carry, mend))

    def submit(self, program, name, node):
        """As the zoo's; slurmctld may be down for another carry's sake."""
        for try_again in range(10, -1, -1):
            try:
                return self.zoo.submit(program, name, node)
            except RuntimeError:
                if not try_again:
                    raise
                time.sleep(2)
        raise RuntimeError("not reached")

    def disturb(self, fault, met, pool):
        """The carries, each step of all before the next, with the fault beside one of them."""
        acts, late, going = [], [], met
        for name in ("dump", "requeue", "start"):
            if name == fault.step:
                late = [one for one in met if one not in going]
                acts = [pool.submit(act, fault, some) for some in together(fault, going)]
                if fault.first:
                    concurrent.futures.wait(acts)
            went = pool.map(lambda one: self.step(name, one), going)
            going = [one for one, ok in zip(going, list(went)) if ok]
        concurrent.futures.wait(acts)
        for one in late:
            one.settling.note(MISSED)
        for one in met:
            if fault.step == "dump" and fault.mend and not fault.mend(one.carry):
                one.settling.wrong.append(f"after '{fault.name}' something is left")

    def step(self, name, met):
        """Whether that step of the carry succeeded."""
        carry, fault = met.carry, met.task.fault
        try:
            if name == "dump":
                images = f"{faults.FULL}-{carry.number}" if fault.act is faults.fill else None
                self.cluster.dump(carry.source, carry.number, images)
            elif name == "requeue":
                self.cluster.requeue(carry.number)
            else:
                self.cluster.start(carry.number, carry.target)
                self.cluster.wait_running(carry.number)
        except clusters.CarryError as error:
            met.settling.note(f"failed {error.step}")
            return False
        return True

    def end(self, met):
        """What was wrong with it, and its ways, once the job is over and nothing of it is left."""
        wrong = self.judge(met, met.settling.run())
        # By hand there is no daemon that removes images whose time is over.
        self.cluster.discard(met.carry.target, met.carry.number)
        return met.task, wrong, met.settling.ways

    def judge(self, met, job):
        """What is wrong with how it ended."""
        fault, carry, settling = met.task.fault, met.carry, met.settling
        wrong = list(settling.wrong)
        output, expected = compare.without_plugin(self.cluster.output(met.directory)), self.expected[met.task.program.name]
        doubled = self.watch.doubled(carry.number)
        if doubled:
            wrong.append(f"TWO COPIES, on {doubled[1]} and {doubled[2]}")
        if compare.begins_again(expected.output, output):
            wrong.append("BEGAN AGAIN")
        if job.state == "CANCELLED" and (fault.ends == ("cancelled",) or GONE_ON in settling.ways):
            settling.note("cancelled")
            self.cluster.discard(carry.target, carry.number)
            if not compare.is_beginning(expected.output, output):
                wrong.append("its output is not the beginning of the undisturbed one's")
        else:
            wrong += zoo.differences(expected, zoo.Run(carry.number, output, job.state, job.exit_code))
            if fault.ends and MISSED not in settling.ways and not set(fault.ends) & set(settling.ways):
                wrong.append(f"it was not {' or '.join(fault.ends)}")
        return wrong + [f"it leaves {left}" for left in self.cluster.left_over(carry.number)]


def places(nodes, count, rng):
    """(source, target) of so many carries at once, as even as can be."""
    first, step = rng.randrange(len(nodes)), rng.randrange(1, len(nodes))
    return [(nodes[(first + i) % len(nodes)], nodes[(first + i + step) % len(nodes)]) for i in range(count)]


def together(fault, met):
    """Those that one act of the fault meets, of each act."""
    groups = collections.defaultdict(list)
    for one in met:
        groups[fault.met_by(one.carry)].append(one)
    return groups.values()


def act(fault, met):
    if not fault.act(met[0].carry):
        for one in met:
            one.settling.note(MISSED)


def rounds(tasks, at_once):
    """The rounds that can go on beside each other, and those that must be alone."""
    beside = [[task] for task in tasks if not task.fault.shared]
    by_fault = collections.defaultdict(list)
    for task in tasks:
        if task.fault.shared:
            by_fault[task.fault.name].append(task)
    alone = [some[i:i + at_once] for some in by_fault.values() for i in range(0, len(some), at_once)]
    return beside, alone


class Report:
    """Prints what became of carries."""

    def __init__(self):
        self.counts = collections.Counter()
        self.bad = self.met = 0

    def add(self, results):
        for task, wrong, ways in results:
            self.bad += bool(wrong)
            self.met += MISSED not in ways
            self.counts[task.fault.name, " > ".join(ways)] += 1
            words = ("FAILED" if wrong else "ok", str(task.index), task.fault.name, f"({task.program.name}):",
                     " > ".join(ways), "; ".join(wrong))
            print(" ".join(words).rstrip(), flush=True)

    def end(self, seed):
        """Whether all were well."""
        for (name, ways), count in sorted(self.counts.items()):
            print(f"{count:>4}  {name:<32} {ways}")
        carries = self.counts.total()
        print(f"{carries - self.bad} of {carries} carries ended well, {self.met} of them met their fault; seed {seed}")
        return not self.bad


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--project", default=os.environ.get("DFRS_PROJECT", "dfrs-carry13"))
    parser.add_argument("--count", type=int, default=2 * len(faults.FAULTS))
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--at-once", type=int, default=8)
    parser.add_argument("--fault", default="", metavar="WORD", help="only faults whose name has this word")
    parser.add_argument("--programs", default=PROGRAMS, type=lambda text: text.split(","), metavar="NAME,...")
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    wanted = [fault for fault in faults.FAULTS if arguments.fault in fault.name]
    if not wanted:
        raise ValueError(f"no fault has '{arguments.fault}' in its name")
    cluster = clusters.Cluster(arguments.project)
    zoo.prepare(cluster)
    print(f"seed {arguments.seed}: {arguments.count} carries with faults", flush=True)
    report = Report()
    with copies.Watch(cluster, f"{clusters.SHARED}/watch.py") as watch:
        kills = Kills(cluster, watch, arguments.seed)
        with concurrent.futures.ThreadPoolExecutor(arguments.at_once) as pool:
            chosen = programs.chosen(arguments.programs, 13)
            list(pool.map(kills.reference, chosen))
            tasks = [Task(index, wanted[index % len(wanted)], rng.choice(chosen)) for index in range(arguments.count)]
            beside, alone = rounds(tasks, arguments.at_once)
            for results in pool.map(kills.round, beside):
                report.add(results)
        for tasks in alone:
            report.add(kills.round(tasks))
    return 0 if report.end(arguments.seed) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (ValueError, RuntimeError) as error:
        sys.exit(f"kills.py: {error}")
