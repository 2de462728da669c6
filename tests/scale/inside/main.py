# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs in the container: one scheduler through all phases. The only argument is the options as JSON;
figures and checks go to standard output, a JSON object a line."""

import json
import sys

import controller as slurm
import phases
from commands import Unanswered
from events import Events
from interactive import interactive
from measures import Phase


def fill(controller, events, options):
    """The first scene: a cluster that fills up."""
    phases.empty(controller, events, options["empty"])
    phases.filling(controller, events, options)


def steady(controller, events, options):
    """The second scene: a full cluster."""
    jobs = phases.full(controller, events, options, phases.jobs_a_node(options), options["waiting"])
    phases.steady(controller, events, options, jobs)
    phases.idle(controller, events, options["idle"])


def files(phase):
    for name, path in (("dfrs_state", slurm.STATE / "dfrs_state"), ("journal", slurm.JOURNAL)):
        if path.exists():
            phase.figure(f"size of {name}", path.stat().st_size / 1e6, "MB")


def close(scene, controller):
    """What is known of a scene at its end."""
    phase = Phase(scene)
    files(phase)
    own, others = controller.error_lines()
    phase.figure("error lines", len(own) + len(others), "")
    phase.check("no error line of DFRS", not own, own[:3])
    phase.check("slurmctld is alive", controller.alive(), controller.last_line())
    controller.stop()


def play(name, scene, options):
    controller = slurm.Controller(options["nodes"])
    controller.start()
    events = Events(slurm.EVENTS)
    events.start()
    try:
        scene(controller, events, options)
    finally:
        close(name, controller)
        events.stop()
        controller.keep_logs(name)


def main():
    options = json.loads(sys.argv[1])
    slurm.configure(options["scheduler"], options["nodes"], options["mobility"], options["policy"],
                    options["mixed"])
    slurm.start_munge()
    scenes = {"fill": fill, "steady": steady, "interactive": interactive}
    for name in options["scenes"]:
        try:
            play(name, scenes[name], options)
        except Unanswered as problem:
            Phase(name).check("Slurm answers", False, str(problem))


if __name__ == "__main__":
    main()
