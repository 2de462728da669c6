# SPDX-License-Identifier: GPL-2.0-or-later
"""The parts of tests/carry that need no Slurm: python3 -B -m unittest discover --start-directory tests/carry"""

import pathlib
import random
import sys
import tempfile
import types
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import cluster  # noqa: E402
import compare  # noqa: E402
import copies  # noqa: E402
import faults  # noqa: E402
import kills  # noqa: E402
import programs  # noqa: E402
import watch  # noqa: E402
import zoo  # noqa: E402

REQUEUED = b"slurmstepd-n1: error: *** JOB 7 ON n1 CANCELLED AT 2026-01-02T03:04:05 DUE TO JOB REQUEUE ***\n"


class Programs(unittest.TestCase):
    def read(self, text, debian=13):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "a.sh"
            path.write_text(text)
            return programs.read(path, debian)

    def test_all_of_the_zoo_say_what_is_expected(self):
        found = programs.chosen([], 13)
        self.assertGreaterEqual(len(found), 30)
        self.assertTrue(any(program.carried for program in found))
        self.assertTrue(all(program.carried or program.reason for program in found))
        self.assertTrue(all(name in {program.name for program in found} for name in kills.PROGRAMS))

    def test_a_head_is_read(self):
        text = "#!/bin/bash\n# SPDX-License-Identifier: X\n# expect: refused no.*way\n# expect-12: carried\n# It waits.\n"
        program = self.read(text)
        self.assertEqual((program.name, program.carried, program.reason, program.shows), ("a", False, "no.*way", "It waits."))
        self.assertTrue(self.read(text, 12).carried)
        self.assertFalse(self.read(text.replace("# ", "// ")).carried)

    def test_a_head_that_says_nothing_is_an_error(self):
        for text in ("", "#!/bin/bash\n", "#!/bin/bash\n# expect: carried\n", "#!/bin/bash\n# expect: refused\n# It.\n"):
            self.assertRaises(ValueError, self.read, text)

    def test_names_choose(self):
        self.assertEqual([program.name for program in programs.chosen(["tail", "awk"], 13)], ["tail", "awk"])
        self.assertRaises(ValueError, programs.chosen, ["none"], 13)
        self.assertEqual(programs.chosen(["java"], 13, small=True), [])


class Compare(unittest.TestCase):
    def test_slurms_line_is_no_difference(self):
        self.assertEqual(compare.difference(b"1\n2\n3\n", b"1\n" + REQUEUED + b"2\n" + REQUEUED + b"3\n"), "")
        # In the middle of a line of the program.
        self.assertEqual(compare.difference(b"1\n2\n", b"1" + REQUEUED + b"\n2\n"), "")

    def test_other_lines_are(self):
        self.assertEqual(compare.difference(b"1\n2\n", b"1\n3\n"), "line 2 is b'3', not b'2'")
        self.assertEqual(compare.difference(b"1\n2\n", b"1\n"), "1 lines, not 2")
        self.assertEqual(compare.difference(b"1\n2\n", b"1\n2"), "the last line is not complete")
        self.assertNotEqual(compare.difference(b"1\n", b"1\nslurmstepd: error: Exceeded memory\n"), "")

    def test_the_plugins_words_can_be_left_out(self):
        line = b"slurmstepd-n2: error: dfrs carry: JobId=7: its image in /i was not restored (status 1); see slurmd's log\n"
        self.assertEqual(compare.without_plugin(b"1\n" + line + b"2\n"), b"1\n2\n")

    def test_a_cancelled_run_is_a_beginning_and_what_its_trap_prints(self):
        whole = b"1\n2\n3\nat end 3\n"
        for text in (b"", b"1\n2\n", b"1\n" + REQUEUED + b"2\nat end 2\n"):
            self.assertTrue(compare.is_beginning(whole, text))
        for text in (b"2\n", b"1\nx\n", b"1\nat end 1\n2\n"):
            self.assertFalse(compare.is_beginning(whole, text))

    def test_a_second_beginning_is_seen(self):
        self.assertFalse(compare.begins_again(b"1\n2\n3\n4\n", b"1\n" + REQUEUED + b"2\n3\n4\n"))
        self.assertTrue(compare.begins_again(b"1\n2\n3\n4\n", b"1\n2\n3\n" + REQUEUED + b"1\n2\n3\n4\n"))
        self.assertFalse(compare.begins_again(b"", b""))


class Copies(unittest.TestCase):
    def test_one_node_after_the_other_is_one_copy(self):
        self.assertIsNone(copies.doubled([(1.0, "n1"), (1.4, "n1"), (2.5, "n2"), (2.9, "n2")]))
        self.assertIsNone(copies.doubled([(1.0, "n1"), (3.0, "n2"), (5.0, "n1")]))
        self.assertIsNone(copies.doubled([]))

    def test_two_nodes_by_turns_are_two_copies(self):
        self.assertEqual(copies.doubled([(1.0, "n1"), (1.2, "n2"), (1.4, "n1"), (1.6, "n2")]), (1.4, "n1", "n2"))

    def test_only_the_programs_own_processes_count(self):
        status = "Name:\tx\nState:\t{}\nNSpid:\t{}\n"
        self.assertTrue(watch.computing(status.format("S (sleeping)", "812\t301")))
        self.assertFalse(watch.computing(status.format("T (stopped)", "812\t301")))
        self.assertFalse(watch.computing(status.format("S (sleeping)", "812")))
        self.assertFalse(watch.computing(status.format("S (sleeping)", "812\t1")))
        self.assertFalse(watch.computing("Name:\tx\n"))

    def test_jobs_are_read_from_cgroups(self):
        with tempfile.TemporaryDirectory() as name:
            for pid, cgroup in (("5", "0::/system.slice/slurmstepd.scope/job_12/step_batch/user/task_0"),
                                ("6", "4:memory:/slurm/uid_1000/job_13/step_0/task_0")):
                directory = pathlib.Path(name) / pid
                directory.mkdir()
                (directory / "cgroup").write_text(cgroup + "\n")
                (directory / "status").write_text("State:\tR (running)\nNSpid:\t5\t300\n")
            self.assertEqual(watch.jobs(pathlib.Path(name)), {12})


class Cluster(unittest.TestCase):
    def test_a_job_is_read(self):
        job = cluster.parse_job("JobId=7 JobName=a Priority=0 JobState=PENDING Reason=launch_failed Restarts=2 "
                                "ExitCode=0:125 ReqNodeList=n2 NodeList=(null)\n")
        self.assertEqual(job, cluster.Job("PENDING", "launch_failed", "", "0:125", 2, 0))
        self.assertEqual(cluster.parse_job("").state, "GONE")
        self.assertEqual(cluster.parse_job("JobState=RUNNING ReqNodeList=n3 NodeList=n2").node, "n2")

    def test_the_plugins_line_is_read(self):
        text = "# carrying\nrequired /usr/lib/spank_dfrs_carry.so images=/var/lib/dfrs-images partitions=main criu=/opt/criu\n"
        self.assertEqual(cluster.parse_plugstack(text)["images"], "/var/lib/dfrs-images")
        self.assertRaises(ValueError, cluster.parse_plugstack, "#required spank_dfrs_carry.so images=/x\n")


class Runs(unittest.TestCase):
    def test_instants_lie_within_the_programs_time(self):
        for times in (0, 1, 2, 5):
            pauses = zoo.instants(times, random.Random(3))
            self.assertEqual(len(pauses), times)
            self.assertLessEqual(sum(pauses), zoo.WINDOW)
        self.assertEqual(zoo.instants(2, random.Random(3)), zoo.instants(2, random.Random(3)))

    def test_another_end_is_a_difference(self):
        expected = zoo.Run(1, b"1\n", "COMPLETED", "0:0")
        self.assertEqual(zoo.differences(expected, zoo.Run(2, b"1\n", "COMPLETED", "0:0")), [])
        self.assertEqual(len(zoo.differences(expected, zoo.Run(2, b"1\n", "FAILED", "1:0"))), 1)

    def test_the_table_has_a_row_for_each(self):
        program = programs.chosen(["tail"], 13)[0]
        carries = [cluster.Carried("n1", "n2", 10.04, 0.2, 1.5, 0.4)]
        self.assertEqual(zoo.row(zoo.Outcome(program, carries=carries)).split(), ["tail", "carried", "1", "10.0", "0.2", "1.5", "0.4"])
        self.assertIn("io_uring", zoo.row(zoo.Outcome(program, refused="process 12 (node) uses io_uring")))
        self.assertTrue(zoo.line(zoo.Outcome(program, wrong=["x"])).startswith("FAILED tail: x"))


class Watch:
    """A watch that saw the job compute so many seconds ago."""

    def __init__(self, seconds):
        self.seconds = seconds

    def quiet(self, _number):
        return self.seconds


class Places(types.SimpleNamespace):
    """A cluster that keeps what is asked of it."""

    def attempt(self, _place, *words, **_options):
        self.asked.append(words[:2])
        return types.SimpleNamespace(returncode=0, stdout="", stderr="")

    def has_image(self, _number):
        return self.image

    def resume_nodes(self):
        pass

    def may_have_gone_on(self, _number):
        return self.gone_on

    def job(self, _number):
        return self.now


class Settling(unittest.TestCase):
    def settling(self, state, image, priority=1, restarts=0, seconds=0.0, gone_on=False):
        job = cluster.Job(state, "", "n1", "0:0", restarts, priority)
        places = Places(asked=[], image=image, gone_on=gone_on, now=job, images="/images")
        carry = faults.Carry(places, 7, "n1", "n2", None)
        return kills.Settling(places, Watch(seconds), carry, None), job, places

    def test_a_held_job_with_its_image_is_released(self):
        settling, job, places = self.settling("PENDING", True, priority=0)
        settling.waiting(job)
        self.assertEqual((settling.ways, settling.wrong), ([], []))
        settling.since = settling.tried = settling.since - 60
        settling.waiting(job)
        self.assertEqual((settling.ways, settling.wrong), (["held"], []))
        self.assertIn(("scontrol", "release"), places.asked)

    def test_a_waiting_job_without_an_image_is_wrong(self):
        settling, job, places = self.settling("PENDING", False)
        settling.since = settling.tried = settling.since - 60
        settling.waiting(job)
        self.assertEqual(len(settling.wrong), 1)
        self.assertEqual(places.asked, [("scancel", "7")])

    def test_a_job_that_has_gone_on_from_its_image_is_not_taken_up_again(self):
        for priority, ways, asked in ((0, [kills.GONE_ON], ("scancel", "7")), (1, [], ("scontrol", "update"))):
            settling, job, places = self.settling("PENDING", False, priority=priority, gone_on=True)
            settling.since = settling.tried = settling.since - 60
            settling.waiting(job)
            self.assertEqual((settling.ways, settling.wrong, places.asked), (ways, [], [asked]))

    def test_a_job_that_stands_still_is_released(self):
        settling, job, places = self.settling("RUNNING", False, seconds=60)
        settling.since = settling.tried = settling.since - 60
        settling.running(job)
        self.assertEqual(settling.ways, ["stopped, released"])
        self.assertEqual(places.asked, [("dfrsd", "release")])

    def test_a_job_that_computes_is_left_alone(self):
        for restarts, way in ((0, "in place"), (1, "elsewhere")):
            settling, job, places = self.settling("RUNNING", False, restarts=restarts)
            settling.running(job)
            self.assertEqual((settling.ways, places.asked), ([way], []))

    def test_every_fault_has_a_name_and_a_step(self):
        self.assertEqual(len({fault.name for fault in faults.FAULTS}), len(faults.FAULTS))
        self.assertLessEqual({fault.step for fault in faults.FAULTS}, {"dump", "requeue", "start"})
        self.assertLessEqual({fault.shared for fault in faults.FAULTS}, {"", "controller", "source", "target"})


class Rounds(unittest.TestCase):
    def test_carries_that_a_fault_meets_together_are_a_round(self):
        shared = faults.Fault("a", "dump", None, shared="source")
        own = faults.Fault("b", "dump", None)
        tasks = [kills.Task(index, fault, None) for index, fault in enumerate([shared, own, shared, own, shared])]
        beside, alone = kills.rounds(tasks, 2)
        self.assertEqual([[task.index for task in some] for some in beside], [[1], [3]])
        self.assertEqual([[task.index for task in some] for some in alone], [[0, 2], [4]])

    def test_each_node_has_as_many_of_a_round(self):
        places = kills.places(["n1", "n2", "n3", "n4"], 8, random.Random(1))
        for column in (0, 1):
            self.assertEqual(sorted(place[column] for place in places), sorted(["n1", "n2", "n3", "n4"] * 2))
        self.assertTrue(all(source != target for source, target in places))

    def test_one_act_is_for_all_that_it_meets(self):
        def met(number, source):
            carry = faults.Carry(None, number, source, "n9", None)
            return types.SimpleNamespace(carry=carry)
        three = [met(1, "n1"), met(2, "n2"), met(3, "n1")]
        for shared, sizes in (("controller", [3]), ("source", [2, 1]), ("", [1, 1, 1])):
            groups = kills.together(faults.Fault("a", "dump", None, shared=shared), three)
            self.assertEqual([len(group) for group in groups], sizes)


if __name__ == "__main__":
    unittest.main()
