# SPDX-License-Identifier: GPL-2.0-or-later
"""What users and operators do to jobs and nodes, and what breaks, at random times."""

import re
import time

from submissions import pick

CONF = "/etc/slurm/dfrs.conf"
FILLER = "/var/lib/slurm/slurmctld/filler"


class Acts:
    """Each act is a method; what it must undo later it puts off with `after`."""

    ACTS = (
        (6, "cancel"), (6, "hold"), (6, "suspend"), (6, "requeue"), (4, "change_limit"), (3, "rename"),
        (4, "drain"), (3, "reconfigure"), (2, "reserve"), (2, "switch_off"),
    )
    FAULTS = (
        (5, "kill_slurmctld"), (2, "stop_slurmctld"), (4, "kill_slurmd"), (4, "kill_dfrsd"), (2, "stop_dfrsd"),
        (1, "power_off"), (2, "fill_disk"),
    )
    # Where jobs can be carried.
    MORE_ACTS = ((40, "drain"),)
    MORE_FAULTS = ((10, "kill_criu"),)

    def __init__(self, site, jobs, chance, between, without_faults, carry):
        self.site, self.jobs, self.chance, self.between = site, jobs, chance, between
        acts, faults = self.ACTS + carry * self.MORE_ACTS, self.FAULTS + carry * self.MORE_FAULTS
        self.weighted = acts if without_faults else acts + faults
        # Of a drain, in seconds: until a node is empty that jobs are carried from.
        self.drained = (5, 20) if carry else (20, 60)
        self.next = time.monotonic() + between
        self.count = 0
        self.put_off = []
        self.slurmctld_is_down = False
        # Of time.monotonic(): until then slurmctld may not have written all that it knows. What makes it read
        # its state again is not done then: that it forgets is Slurm's, not the disk's or DFRS's.
        self.unwritten_until = 0.0
        self.is_switched_off = False
        self.without_slurmd = set()
        self.slurmctld_ended = 0.0
        self.resumed = 0.0
        # In seconds since the epoch.
        self.kills = []
        # [begin, end] of times in which srun could not have reached slurmctld, or a slurmd, in the same seconds.
        self.outages = []

    def step(self):
        now = time.monotonic()
        due = [entry for entry in self.put_off if entry[0] <= now]
        self.put_off = [entry for entry in self.put_off if entry[0] > now]
        for _, undo in sorted(due, key=lambda entry: entry[0]):
            undo()
        if now >= self.next:
            self.next = now + self.chance.expovariate(1 / self.between)
            self.count += 1
            getattr(self, pick(self.chance, self.weighted))()

    def after(self, least, most, undo):
        self.put_off.append((time.monotonic() + self.chance.uniform(least, most), undo))

    def make_whole(self):
        """Ends what is still going on: every daemon up, every node in service, every job free to run."""
        for _, undo in sorted(self.put_off, key=lambda entry: entry[0]):
            undo()
        self.put_off = []
        time.sleep(10)
        self.resume_nodes()
        self.take_back()

    def resume_nodes(self):
        """Once is not enough: a node that comes back late is said to have rebooted unexpectedly, and slurmd
        drains its own ("Kill task failed") if slurmctld was away for so long that a step could not end."""
        self.resumed = time.monotonic()
        for node in self.site.nodes_away() or ():
            self.site.control("scontrol", "update", f"nodename={node}", "state=resume")

    def keep_whole(self):
        if time.monotonic() > self.resumed + 10:
            self.resume_nodes()

    def take_back(self):
        """What an operator took back while slurmctld was down is taken back again."""
        for identity, _, reason in self.site.queue() or []:
            if "suspended by an operator" in reason:
                self.site.control("scontrol", "resume", identity)
            elif reason.startswith("JobHeld"):
                self.site.control("scontrol", "release", identity)
        _, reservations = self.site.attempt("controller", "scontrol", "--oneliner", "show", "reservations")
        for name in re.findall(r"\bReservationName=(soak\d+)", reservations):
            self.site.control("scontrol", "delete", f"reservationname={name}")

    # --- jobs ------------------------------------------------------------------------------------------

    def job(self, act, *states):
        """An id of a job in one of these states, which is marked as acted upon; None: there is none."""
        queue = self.site.queue() or []
        ids = sorted(identity for identity, state, _ in queue if not states or state in states)
        if not ids:
            return None
        identity = self.chance.choice(ids)
        for job in self.jobs.submitted:
            if job.identity == identity.split("_")[0]:
                job.acts.add(act)
        return identity

    def cancel(self):
        if identity := self.job("cancel"):
            self.site.control("scancel", identity)

    def hold(self):
        if identity := self.job("hold", "PENDING"):
            self.site.control("scontrol", "hold", identity)
            self.after(10, 40, lambda: self.site.control("scontrol", "release", identity))

    def suspend(self):
        # slurmctld retries both messages where slurmd is away, each by itself: slurmd may receive
        # the resume first, and then the job stays frozen although it runs in Slurm's eyes.
        if self.without_slurmd:
            return
        if identity := self.job("suspend", "RUNNING", "SUSPENDED"):
            self.site.control("scontrol", "suspend", identity)
            self.after(5, 30, lambda: self.site.control("scontrol", "resume", identity))

    def requeue(self):
        if identity := self.job("requeue", "RUNNING", "SUSPENDED"):
            self.site.control("scontrol", "requeue", identity)

    def change_limit(self):
        if identity := self.job("change_limit"):
            self.site.control("scontrol", "update", f"jobid={identity}", f"timelimit={self.chance.randint(14, 40)}")

    def rename(self):
        """Makes Slurm keep its state."""
        if identity := self.job("rename"):
            self.site.control("scontrol", "update", f"jobid={identity}", "admincomment=soak")

    # --- nodes and configuration ---------------------------------------------------------------------------

    def node(self):
        return self.chance.choice(self.site.nodes())

    def drain(self):
        node = self.node()
        self.site.control("scontrol", "update", f"nodename={node}", "state=drain", "reason=soak")
        self.after(*self.drained, lambda: self.site.control("scontrol", "update", f"nodename={node}", "state=resume"))

    def reconfigure(self):
        if not self.is_unwritten():
            self.site.control("scontrol", "reconfigure")

    def reserve(self):
        name = f"soak{self.count}"
        self.site.control("scontrol", "create", "reservation", f"reservationname={name}", "starttime=now+1minutes",
                          "duration=30", f"nodes={self.node()}", "flags=maint,ignore_jobs", "user=root")
        self.after(40, 120, lambda: self.site.control("scontrol", "delete", f"reservationname={name}"))

    def switch_off(self):
        # Of two at once the first to end would let the disk be filled before the other one reconfigures.
        if self.is_unwritten() or self.is_switched_off:
            return
        self.is_switched_off = True
        self.set_mode("off")
        self.after(20, 60, self.switch_on)

    def switch_on(self):
        self.is_switched_off = False
        self.set_mode("full")

    def set_mode(self, mode):
        self.site.control("sed", "-i", f"s/^Mode=.*/Mode={mode}/", CONF)
        self.site.control("scontrol", "reconfigure")

    # --- faults ----------------------------------------------------------------------------------------------

    def end_slurmctld(self, how):
        if self.slurmctld_is_down or self.is_unwritten():
            return
        self.slurmctld_is_down = True
        self.slurmctld_ended = time.monotonic()
        self.outage = self.begin_outage()
        self.site.daemon("controller", "slurmctld", how)
        self.after(1, 15, self.start_slurmctld)

    def begin_outage(self):
        """Until its end is set it lasts."""
        self.outages.append([time.time(), float("inf")])
        return self.outages[-1]

    def start_slurmctld(self):
        self.site.daemon("controller", "slurmctld", "start")
        self.slurmctld_is_down = False
        self.wait_for_answer()
        self.outage[1] = time.time()

    def wait_for_answer(self):
        for _ in range(60):
            if self.site.attempt("controller", "scontrol", "ping")[0] == 0:
                return self.jobs.look_for_forgotten(self.slurmctld_ended)
            time.sleep(1)
        self.site.note("slurmctld does not answer")

    def kill_slurmctld(self):
        self.kills.append(time.time())
        self.end_slurmctld("kill")

    def stop_slurmctld(self):
        self.end_slurmctld("stop")

    def end_for_a_while(self, daemon, how, least, most):
        node = self.node()
        self.site.daemon(node, daemon, how)
        self.after(least, most, lambda: self.start_on_node(node, daemon))
        return node

    def start_on_node(self, node, daemon):
        if self.site.attempt(node, "pgrep", "-x", daemon)[0]:
            self.site.daemon(node, daemon, "start")
        if daemon == "slurmd":
            self.without_slurmd.discard(node)

    def kill_slurmd(self):
        outage = self.begin_outage()
        node = self.end_for_a_while("slurmd", "kill", 1, 20)
        self.without_slurmd.add(node)
        self.after(20, 20, lambda: self.end_outage(outage))

    @staticmethod
    def end_outage(outage):
        outage[1] = time.time()

    def kill_dfrsd(self):
        self.end_for_a_while("dfrsd", "kill", 0, 5)

    def kill_criu(self):
        """In a dump or a restore, if there is one soon."""
        node = self.node()
        code, _ = self.site.attempt(node, "sh", "-c", "timeout 5 sh -c 'until pkill -KILL -x criu; do sleep 0.01; done'")
        self.site.note(f"{node}: criu {'was not there' if code else 'killed'}")

    def stop_dfrsd(self):
        self.end_for_a_while("dfrsd", "stop", 10, 60)

    def power_off(self):
        """A node loses power with everything on it, and comes back."""
        node = self.node()
        for job in self.jobs.submitted:
            job.acts.add("power_off")
        self.site.note(f"{node}: power off")
        self.site.cluster.power(node, "stop")
        outage = self.begin_outage()
        self.after(5, 30, lambda: self.site.cluster.power(node, "start"))
        self.after(30, 30, lambda: self.end_outage(outage))

    def fill_disk(self):
        """No state can be written for a while, neither Slurm's nor DFRS's."""
        if self.slurmctld_is_down or self.is_unwritten() or self.is_switched_off:
            return
        self.unwritten_until = float("inf")
        self.site.control("sh", "-c", f"cat /dev/zero >{FILLER}")
        self.after(10, 40, self.free_disk)

    def is_unwritten(self):
        return time.monotonic() < self.unwritten_until

    def free_disk(self):
        self.site.control("rm", "-f", FILLER)
        self.unwritten_until = time.monotonic() + 10
