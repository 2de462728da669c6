#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kills.py [--project NAME] [--count N] [--seed N] [--at-once N] [--fault WORD]

Carries jobs of the zoo, a fault in each carry at a random moment. Then the job may go on in place, go on elsewhere,
wait with its image, be held with its image, or be cancelled as it was asked for; what waits is started again, as an
operator would. It must never run twice at once, begin again, or be lost, and its output must be that of an undisturbed
run. Prints a line for each carry and how often a fault ended in which way."""

import argparse
import collections
import concurrent.futures
import itertools
import os
import random
import sys
import threading
import time

import cluster as clusters
import compare
import copies
import faults
import programs
import zoo

# A failed dump cuts timed waits of the job that goes on in place short, which these programs bear.
PROGRAMS = ("state", "sqlite", "pool", "locks", "heredoc", "static", "mapped", "pipeline")
# A job that runs, does not compute and has its image for so long is not being restored: it waits for a requeue.
IMAGE_SECONDS = 12
# An operator's pause. Slurm fails a job with "Job credential revoked" that ended on a node in the same second.
RELEASE_SECONDS = 3
# A job that runs and was not seen computing for so long stands still.
STILL_SECONDS = 6
SETTLE_SECONDS = 240
# A way of a job whose start was forgotten, or whose restore was cut off.
GONE_ON = "held, as it has gone on from its image, or may have"


class Settling:
    """What an operator does with a job after a failed carry, until it is over; `ways` are the states that it went through."""

    def __init__(self, cluster, watch, carry, mend):
        self.cluster = cluster
        self.watch = watch
        self.carry = carry
        self.mend = mend
        self.ways = []
        self.wrong = []
        self.since = time.monotonic()

    def note(self, way):
        if way not in self.ways:
            self.ways.append(way)

    def run(self):
        """Until the job is over; the job."""
        end = time.monotonic() + SETTLE_SECONDS
        last = None
        while time.monotonic() < end:
            job = self.cluster.job(self.carry.number)
            if job.state != last:
                self.since, last = time.monotonic(), job.state
            if job.state in clusters.OVER:
                if not self.ways:
                    self.note("elsewhere" if job.restarts else "in place")
                return job
            if job.state == "RUNNING":
                self.running(job)
            elif is_waiting(job):
                self.waiting(job)
            time.sleep(0.7)
        self.wrong.append(f"it is not over after {SETTLE_SECONDS} s: {self.cluster.job(self.carry.number)}")
        self.cluster.attempt("controller", "scancel", str(self.carry.number))
        return self.cluster.wait_over(self.carry.number, 60)

    def quiet(self, seconds):
        """Whether the state has been the same for so long, and the job was not seen computing."""
        return time.monotonic() - self.since > seconds and self.watch.quiet(self.carry.number) > seconds

    def running(self, job):
        number = self.carry.number
        if self.cluster.has_image(number):
            if self.quiet(IMAGE_SECONDS):
                self.note("stopped with its image")
                self.restart(number)
        elif self.quiet(STILL_SECONDS):
            self.note("stopped, released")
            self.release(job.node, number)
            self.since = time.monotonic()
        elif self.watch.quiet(number) < 1:
            self.note("elsewhere" if job.restarts else "in place")

    def release(self, node, number):
        words = ("dfrsd", "release", "--job", str(number), "--images", self.cluster.images)
        done = self.cluster.attempt(node, *words)
        if done.returncode != 0:
            self.wrong.append(f"dfrsd release: {clusters.last_line(done)}")

    def restart(self, number):
        try:
            self.cluster.requeue(number)
        except clusters.CarryError:
            # slurmctld is down, or has done it already: the next round sees.
            pass

    def waiting(self, job):
        number = self.carry.number
        if time.monotonic() - self.since < RELEASE_SECONDS:
            return
        if not self.cluster.has_image(number):
            # The restore ends with the image's mark: look again whether it still waits.
            if is_waiting(self.cluster.job(number)):
                self.waiting_without_image(job)
            return
        if job.priority == 0:
            self.note("held")
            if self.mend and not self.mend(self.carry):
                self.wrong.append("the fault cannot be undone")
            self.mend = None
            self.cluster.attempt("controller", "scontrol", "release", str(number))
        else:
            self.note("waits with its image")
        self.start(number)

    def waiting_without_image(self, job):
        number = self.carry.number
        if not self.cluster.may_have_gone_on(number):
            self.wrong.append("it waits without an image: it would begin again")
        elif job.priority != 0:
            # Its start was forgotten, and is made again.
            self.cluster.resume_nodes()
            self.start(number)
            return
        else:
            # It could begin again, or do a second time what it has done since its image: its user's choice.
            self.note(GONE_ON)
        self.cluster.attempt("controller", "scancel", str(number))

    def start(self, number):
        self.cluster.attempt("controller", "scontrol", "update", f"JobId={number}",
                             f"ReqNodeList={self.carry.target}", "StartTime=now")


def is_waiting(job):
    return job.state in ("PENDING", "SPECIAL_EXIT", "REQUEUED", "REQUEUE_HOLD")


class Kills:
    def __init__(self, cluster, watch, seed):
        self.cluster = cluster
        self.watch = watch
        self.zoo = zoo.Zoo(cluster, watch, seed)
        self.seed = seed
        self.expected = {}
        self.lock = threading.Lock()

    def reference(self, program):
        """The undisturbed run of that program, once."""
        outcome = zoo.Outcome(program)
        run = self.zoo.undisturbed(program, f"{program.name}.kills", outcome)
        if outcome.wrong:
            raise RuntimeError(f"{program.name}, undisturbed: {outcome.wrong[0]}")
        self.expected[program.name] = run

    def one(self, index, fault, program):
        """One carry with a fault: what was wrong, and the ways of the job."""
        rng = random.Random(f"{self.seed} {index}")
        try:
            self.cluster.resume_nodes()
            number, directory = self.submit(program, f"{program.name}.kill{index}", rng)
            time.sleep(faults.STATE_SECONDS if fault.alone else rng.uniform(0.2, 6))
            source = self.cluster.job(number).node
            target = rng.choice([node for node in self.cluster.nodes if node != source])
            carry = faults.Carry(self.cluster, number, source, target, rng)
            settling = Settling(self.cluster, self.watch, carry, None if fault.step == "dump" else fault.mend)
            self.disturb(carry, fault, settling)
            job = settling.run()
            return self.judge(program, fault, carry, directory, settling, job), settling.ways
        except (RuntimeError, OSError) as error:
            return [str(error)], ["LOST"]

    def submit(self, program, name, rng):
        """As the zoo's; slurmctld may be down for another carry's sake."""
        for try_again in range(10, -1, -1):
            try:
                return self.zoo.submit(program, name, rng)
            except RuntimeError:
                if not try_again:
                    raise
                time.sleep(2)
        raise RuntimeError("not reached")

    def disturb(self, carry, fault, settling):
        """The carry, with its fault."""
        images = f"{faults.FULL}-{carry.number}" if fault.act is faults.fill else None
        steps = {"dump": lambda: self.cluster.dump(carry.source, carry.number, images),
                 "requeue": lambda: self.cluster.requeue(carry.number),
                 "start": lambda: self.start(carry)}
        beside = None
        try:
            for name, step in steps.items():
                if fault.step == name:
                    beside = self.begin(carry, fault, settling)
                step()
        except clusters.CarryError as error:
            settling.note(f"failed {error.step}")
        if beside:
            beside.join()
        if fault.step == "dump" and fault.mend and not fault.mend(carry):
            settling.wrong.append(f"after '{fault.name}' something is left")

    def begin(self, carry, fault, settling):
        def act():
            if not fault.act(carry):
                settling.note("missed")
        thread = threading.Thread(target=act)
        thread.start()
        if fault.first:
            thread.join()
        return thread

    def start(self, carry):
        self.cluster.start(carry.number, carry.target)
        self.cluster.wait_running(carry.number)

    def judge(self, program, fault, carry, directory, settling, job):
        """What is wrong with how it ended."""
        wrong = list(settling.wrong)
        output, expected = compare.without_plugin(self.cluster.output(directory)), self.expected[program.name]
        doubled = self.watch.doubled(carry.number)
        if doubled:
            wrong.append(f"TWO COPIES, on {doubled[1]} and {doubled[2]}")
        if compare.begins_again(expected.output, output):
            wrong.append("BEGAN AGAIN")
        if job.state == "CANCELLED" and (fault.ends == ("cancelled",) or GONE_ON in settling.ways):
            settling.note("cancelled")
            # Of an image of a cancelled job the daemon is to free the disk; by hand it is this.
            self.cluster.attempt(carry.target, "dfrsd", "release", "--job", str(carry.number), "--images",
                                 self.cluster.images, "--discard")
            lines = compare.program_lines(output)
            if lines != expected.output.splitlines(True)[:len(lines)]:
                wrong.append("its output is not the beginning of the undisturbed one's")
        else:
            run = zoo.Run(carry.number, output, job.state, job.exit_code)
            wrong += zoo.differences(expected, run)
            if fault.ends and "missed" not in settling.ways and not set(fault.ends) & set(settling.ways):
                wrong.append(f"it was not {' or '.join(fault.ends)}")
        return wrong + [f"it leaves {left}" for left in self.cluster.left_over(carry.number)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--project", default=os.environ.get("DFRS_PROJECT", "dfrs-carry13"))
    parser.add_argument("--count", type=int, default=2 * len(faults.FAULTS))
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--at-once", type=int, default=3)
    parser.add_argument("--fault", default="", metavar="WORD", help="only faults whose name has this word")
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    wanted = [fault for fault in faults.FAULTS if arguments.fault in fault.name]
    if not wanted:
        raise ValueError(f"no fault has '{arguments.fault}' in its name")
    cluster = clusters.Cluster(arguments.project)
    zoo.prepare(cluster)
    print(f"seed {arguments.seed}: {arguments.count} carries with faults", flush=True)
    bad, counts = 0, collections.Counter()
    with copies.Watch(cluster, f"{clusters.SHARED}/watch.py") as watch:
        kills = Kills(cluster, watch, arguments.seed)
        with concurrent.futures.ThreadPoolExecutor(arguments.at_once) as pool:
            chosen = programs.chosen(PROGRAMS, 13)
            list(pool.map(kills.reference, chosen))
            tasks = [(index, wanted[index % len(wanted)], rng.choice(chosen)) for index in range(arguments.count)]
            together = [task for task in tasks if not task[1].alone]
            alone = [task for task in tasks if task[1].alone]
            results = itertools.chain(pool.map(lambda task: kills.one(*task), together),
                                      map(lambda task: kills.one(*task), alone))
            for (index, fault, program), (wrong, ways) in zip(together + alone, results):
                bad += bool(wrong)
                counts[fault.name, " > ".join(ways)] += 1
                word = "FAILED" if wrong else "ok"
                print(f"{word} {index} {fault.name} ({program.name}): {' > '.join(ways)} {'; '.join(wrong)}".rstrip(),
                      flush=True)
    for (name, ways), count in sorted(counts.items()):
        print(f"{count:>4}  {name:<32} {ways}")
    print(f"{arguments.count - bad} of {arguments.count} carries with a fault ended well; seed {arguments.seed}")
    return 1 if bad else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (ValueError, RuntimeError) as error:
        sys.exit(f"kills.py: {error}")
