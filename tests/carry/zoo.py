#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""zoo.py [--debian 12|13] [--project NAME] [--times 0,1,2,5] [--small] [--seed N] [--at-once N] [NAME...]

Runs each program of the zoo once undisturbed and then once for each number of times, carried that often at random
instants from node to node, and compares output, exit code and what is left. One that must be refused is to be refused
by dfrsd inspect and by dfrsd dump, and to go on. Prints a line for each program, a table, and the seed."""

import argparse
import concurrent.futures
import dataclasses
import os
import pathlib
import random
import re
import subprocess
import sys
import time

import cluster as clusters
import compare
import copies
import programs

HERE = pathlib.Path(__file__).resolve().parent
PORT = 27182
# A program runs for 12 s at least: all instants of its carries lie within the first seconds of these. Before it stands
# still, each carry takes some of it, too.
WINDOW = 8.0
BEFORE_STILL = 0.8
# A momentary obstacle, as a step of srun or a process in state D, may pass; a carry waits so long for that.
REFUSED_SECONDS = 6.0


@dataclasses.dataclass
class Outcome:
    """What came of one program: what was wrong, its carries, how often it was refused at first, and why at last.

    `missed` are carries for which a run was over too soon, as it may be on a busy machine."""

    program: programs.Program
    wrong: list = dataclasses.field(default_factory=list)
    carries: list = dataclasses.field(default_factory=list)
    retries: int = 0
    missed: int = 0
    refused: str = ""


@dataclasses.dataclass(frozen=True)
class Run:
    """One job of a program: its number, directory, what it wrote and how it ended."""

    number: int
    output: bytes
    state: str
    exit_code: str


def parse(words):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--debian", type=int, default=13, choices=(12, 13))
    parser.add_argument("--project", default=os.environ.get("DFRS_PROJECT", "dfrs-carry13"))
    parser.add_argument("--times", default="0,1,2,5", type=lambda text: [int(number) for number in text.split(",")])
    parser.add_argument("--small", action="store_true", help="without those that need much memory or CPU time")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--at-once", type=int, default=6)
    parser.add_argument("names", nargs="*")
    return parser.parse_args(words)


def instants(times, rng):
    """Seconds before each carry, counted from the one before: all within the window of the program's own time."""
    return [rng.uniform(0.1, WINDOW / times - BEFORE_STILL) for _ in range(times)]


class Zoo:
    """The programs on a cluster."""

    def __init__(self, cluster, watch, seed):
        self.cluster = cluster
        self.watch = watch
        self.seed = seed
        self.environment = {"ZOO": f"{clusters.SHARED}/zoo", "ZOO_BUILT": f"{clusters.SHARED}/built",
                            "ZOO_SERVER": f"controller:{PORT}"}

    def submit(self, program, name, node):
        """A new job of it on that node, in a directory of its own; its number and the directory."""
        directory = f"{clusters.SHARED}/runs/{name}"
        script = f"{clusters.SHARED}/zoo/{program.path.name}"
        number = self.cluster.submit(script, directory, node, self.environment)
        self.cluster.wait_begun(number, directory)
        return number, directory

    def finish(self, number, directory, outcome):
        """Waits for its end and looks at what is left."""
        job = self.cluster.wait_over(number)
        outcome.wrong += [f"job {number} leaves {left}" for left in self.cluster.left_over(number)]
        doubled = self.watch.doubled(number)
        if doubled:
            outcome.wrong.append(f"job {number} ran on {doubled[1]} and {doubled[2]} at once")
        if not self.watch.seen(number):
            outcome.wrong.append(f"job {number} was never seen running: it has no carrier, or the watch does not work")
        return Run(number, self.cluster.output(directory), job.state, job.exit_code)

    def undisturbed(self, program, name, outcome):
        node = random.Random(f"{self.seed} {name}").choice(self.cluster.nodes)
        return self.finish(*self.submit(program, name, node), outcome)

    def carried(self, program, times, outcome):
        """Carries it so often."""
        rng = random.Random(f"{self.seed} {program.name} {times}")
        number, directory = self.submit(program, f"{program.name}.{times}", rng.choice(self.cluster.nodes))
        for done, pause in enumerate(instants(times, rng)):
            time.sleep(pause)
            if not self.wait_carriable(number, outcome):
                outcome.missed += times - done
                break
            source = self.cluster.job(number).node
            target = rng.choice([node for node in self.cluster.nodes if node != source])
            try:
                outcome.carries.append(self.cluster.carry(number, target))
            except clusters.CarryError as error:
                outcome.missed += times - done
                if error.step != "dump" or not self.is_ending(number):
                    outcome.wrong.append(f"job {number}: {error}")
                break
        return self.finish(number, directory, outcome)

    def is_ending(self, number):
        """Whether the job is over, or will be in a moment."""
        return self.cluster.wait(number, lambda job: job.state in clusters.OVER, 3).state in clusters.OVER

    def wait_carriable(self, number, outcome):
        """Whether inspect lets it pass, sooner or later, unless it is over first."""
        end = time.monotonic() + REFUSED_SECONDS
        while True:
            obstacles = self.cluster.inspect(number)
            if not obstacles:
                return True
            if self.cluster.job(number).state in clusters.OVER:
                return False
            if time.monotonic() > end:
                outcome.wrong.append(f"job {number} was refused: {obstacles[0]}")
                return False
            outcome.retries += 1
            time.sleep(0.3)

    def refused(self, program, outcome):
        """One that cannot be carried: inspect says why, a dump changes nothing."""
        rng = random.Random(f"{self.seed} {program.name}")
        number, directory = self.submit(program, f"{program.name}.refused", rng.choice(self.cluster.nodes))
        time.sleep(rng.uniform(0.5, WINDOW))
        obstacles = self.cluster.inspect(number)
        fitting = [line for line in obstacles if re.search(program.reason, line, re.I)]
        outcome.refused = (fitting or obstacles or [""])[0]
        if not obstacles:
            outcome.wrong.append(f"job {number} was not refused by dfrsd inspect")
        elif not fitting:
            outcome.wrong.append(f"job {number} was refused for another reason than '{program.reason}': {obstacles[0]}")
        try:
            self.cluster.dump(self.cluster.job(number).node, number)
            outcome.wrong.append(f"job {number} was not refused by dfrsd dump")
        except clusters.CarryError:
            pass
        return self.finish(number, directory, outcome)

    def one(self, program, times):
        """All runs of one program."""
        outcome = Outcome(program)
        try:
            expected = self.undisturbed(program, f"{program.name}.undisturbed", outcome)
            if program.carried:
                runs = [self.carried(program, number, outcome) for number in times]
            else:
                runs = [self.refused(program, outcome)]
            for run in runs:
                outcome.wrong += differences(expected, run)
            if program.carried and any(times) and not outcome.carries:
                outcome.wrong.append("it was never carried")
        except (RuntimeError, OSError, clusters.CarryError) as error:
            outcome.wrong.append(str(error))
        return outcome


def differences(expected, run):
    """What a run has other than the undisturbed one."""
    wrong = []
    if (run.state, run.exit_code) != (expected.state, expected.exit_code):
        wrong.append(f"job {run.number} ended {run.state} {run.exit_code}, not {expected.state} {expected.exit_code}")
    if compare.begins_again(expected.output, run.output):
        wrong.append(f"job {run.number} began again")
    difference = compare.difference(expected.output, run.output)
    if difference:
        wrong.append(f"job {run.number}, output: {difference}")
    return wrong


def line(outcome):
    """One line about a program."""
    notes = [f"{outcome.retries} times refused before"] * bool(outcome.retries)
    notes += [f"{outcome.missed} times over too soon"] * bool(outcome.missed)
    done = f"refused: {outcome.refused}" if outcome.refused else f"carried {len(outcome.carries)} times"
    done = ", ".join([done, *notes])
    if outcome.wrong:
        return f"FAILED {outcome.program.name}: {'; '.join(outcome.wrong)}; {done}"
    return f"ok {outcome.program.name}: {done}"


def row(outcome):
    """Its line of the table: figures are the medians of its carries."""
    def median(field):
        values = sorted(getattr(carry, field) for carry in outcome.carries)
        return f"{values[len(values) // 2]:.1f}" if values else "-"
    what = f"carried {len(outcome.carries)}" if not outcome.refused else "refused"
    why = outcome.refused or ("" if not outcome.wrong else "FAILED")
    return (f"{outcome.program.name:<14} {what:<11} {median('megabytes'):>7} {median('dump'):>6} {median('still'):>6} "
            f"{median('restore'):>8}  {why}").rstrip()


HEADER = f"{'program':<14} {'result':<11} {'MB':>7} {'dump s':>6} {'still s':>6} {'restore s':>8}  why"


def prepare(cluster):
    """Puts the zoo where all nodes see it, and compiles what must be compiled, where there are compilers."""
    archive = subprocess.run(["tar", "--directory", HERE, "--owner=0", "--group=0", "--create", "zoo", "watch.py",
                              "server.py"], check=True, capture_output=True).stdout
    script = f"rm -rf {clusters.SHARED} && mkdir -p {clusters.SHARED} && tar --directory {clusters.SHARED} --extract && " \
             f"{{ ! command -v make >/dev/null || make -s -C {clusters.SHARED}/zoo OUT={clusters.SHARED}/built; }} && " \
             f"chown -R {clusters.USER}: {clusters.SHARED}"
    made = subprocess.run(["docker", "exec", "-i", cluster.containers["controller"], "bash", "-c", script], input=archive,
                          capture_output=True)
    if made.returncode != 0:
        raise RuntimeError(f"the zoo was not made: {made.stderr.decode(errors='replace')}")
    # A server of an earlier run does as well: this one then ends at once.
    subprocess.run(["docker", "exec", "--detach", cluster.containers["controller"], "python3", "-B",
                    f"{clusters.SHARED}/server.py", str(PORT)], check=True)


def main():
    arguments = parse(sys.argv[1:])
    chosen = programs.chosen(arguments.names, arguments.debian, arguments.small)
    cluster = clusters.Cluster(arguments.project)
    prepare(cluster)
    print(f"seed {arguments.seed}: {len(chosen)} programs, carried {arguments.times} times", flush=True)
    outcomes = []
    with copies.Watch(cluster, f"{clusters.SHARED}/watch.py") as watch:
        zoo = Zoo(cluster, watch, arguments.seed)
        with concurrent.futures.ThreadPoolExecutor(arguments.at_once) as pool:
            running = [pool.submit(zoo.one, program, arguments.times) for program in chosen]
            for done in concurrent.futures.as_completed(running):
                outcomes.append(done.result())
                print(line(outcomes[-1]), flush=True)
    print(HEADER)
    for outcome in sorted(outcomes, key=lambda outcome: outcome.program.name):
        print(row(outcome))
    failed = [outcome for outcome in outcomes if outcome.wrong]
    carries = sum(len(outcome.carries) for outcome in outcomes)
    print(f"{len(outcomes) - len(failed)} of {len(outcomes)} programs ok, {carries} carries; seed {arguments.seed}")
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (ValueError, RuntimeError) as error:
        sys.exit(f"zoo.py: {error}")
