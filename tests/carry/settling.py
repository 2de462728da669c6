# SPDX-License-Identifier: GPL-2.0-or-later
"""What an operator does with a job after a carry that a fault has met, until the job is over."""

import time

import cluster as clusters

# A job that runs, does not compute and has its image for so long is not being restored: it waits for a requeue.
IMAGE_SECONDS = 12
# An operator's pause. Slurm fails a job with "Job credential revoked" that ended on a node in the same second.
RELEASE_SECONDS = 3
# A job that runs and was not seen computing for so long stands still.
STILL_SECONDS = 6
# What waits for so long although it could start, waits for nodes that slurmctld has drained or set down.
DRAINED_SECONDS = 8
SETTLE_SECONDS = 240
# A way of a job whose start was forgotten, whose restore was cut off, or whose node was lost after it.
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
        self.since = self.tried = time.monotonic()

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
            time.sleep(1)
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
            self.release(job, number)
            self.since = time.monotonic()
        elif self.watch.quiet(number) < 1:
            self.note("elsewhere" if job.restarts else "in place")

    def release(self, job, number):
        words = ("dfrsd", "release", "--job", str(number), "--images", self.cluster.images)
        done = self.cluster.attempt(job.node, *words)
        if done.returncode == 0:
            return
        restored_by = self.cluster.restored_by(number)
        if restored_by > job.restarts:
            # slurmctld has forgotten the requeue, and nothing is left of the run that it shows.
            self.note("runs nowhere, requeued")
            self.restart(number)
        elif restored_by == job.restarts:
            # Slurm would have it restart, as every job whose node is lost.
            self.note(GONE_ON)
            self.cluster.attempt("controller", "scancel", str(number))
        else:
            self.wrong.append(f"dfrsd release: {clusters.last_line(done)}")

    def restart(self, number):
        try:
            self.cluster.requeue(number)
        except clusters.CarryError:
            # slurmctld is down, or has done it already: the next round sees.
            pass

    def waiting(self, job):
        number = self.carry.number
        # Between two looks it may have begun, failed and been held again.
        if time.monotonic() - max(self.since, self.tried) < RELEASE_SECONDS:
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
            self.start(number)
            return
        else:
            # It could begin again, or do a second time what it has done since its image: its user's choice.
            self.note(GONE_ON)
        self.cluster.attempt("controller", "scancel", str(number))

    def start(self, number):
        self.tried = time.monotonic()
        if time.monotonic() - self.since > DRAINED_SECONDS:
            self.cluster.resume_nodes()
        self.cluster.attempt("controller", "scontrol", "update", f"JobId={number}",
                             f"ReqNodeList={self.carry.target}", "StartTime=now")


def is_waiting(job):
    return job.state in ("PENDING", "SPECIAL_EXIT", "REQUEUED", "REQUEUE_HOLD")
