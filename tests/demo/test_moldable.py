# SPDX-License-Identifier: GPL-2.0-or-later
"""The parts of docker/demo --moldable that need no Slurm: python3 -B -m unittest discover --start-directory tests/demo"""

import json
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
DOCKER = pathlib.Path(__file__).resolve().parent.parent.parent / "docker"
sys.path.insert(0, str(DOCKER / "demo.d"))

import moldable  # noqa: E402
import moldable_model  # noqa: E402

JOB = moldable.Job("m01", 2.5, 2, (12.0, 6.5, 6.0))


def tasks(*times):
    lines = (json.dumps({"id": str(place), "weight": 1 + place, "times": each}) for place, each in enumerate(times))
    return "\n".join(lines) + "\n"


def record(begin, end, nodes, on=None, status=0):
    lines = [f"{begin} begin {nodes}"]
    lines += [f"{begin} task n{node}" for node in on or range(1, nodes + 1)]
    return "\n".join([*lines, f"{end} end {status}"]) + "\n"


class Model(unittest.TestCase):
    def test_a_user_requests_the_most_nodes_that_are_used_by_half(self):
        self.assertEqual(moldable_model.asks([8.0, 4.0, 2.7, 2.0]), 4)
        self.assertEqual(moldable_model.asks([8.0, 7.9, 7.8, 7.7]), 2)
        self.assertEqual(moldable_model.asks([8.0, 9.0]), 1)

    def test_what_is_made_is_read_again(self):
        path = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "workload"
        path.write_text(moldable_model.table(tasks([3.0, 1.5], [0.1, 0.1])))
        jobs = moldable.read(path)
        self.assertEqual([(job.name, job.weight, job.asks, job.limit(1)) for job in jobs],
                         [("m01", 1.0, 2, 12), ("m02", 2.0, 2, 1)])
        self.assertEqual(jobs[0].times, (12.0, 6.0))

    def test_a_bad_line_is_named(self):
        path = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "workload"
        for line in ("1 1", "1 3 4.0 2.0", "0 1 4.0", "1 1 x"):
            path.write_text(f"# nothing\n{line}\n")
            with self.assertRaisesRegex(ValueError, "workload:2: "):
                moldable.read(path)

    def test_the_workload_is_as_it_says(self):
        jobs = moldable.read(moldable.WORKLOAD)
        self.assertEqual(len(jobs), moldable_model.TASKS)
        for job in jobs:
            self.assertEqual(len(job.times), moldable_model.NODES)
            self.assertEqual(job.asks, moldable_model.asks(job.times))


class Runs(unittest.TestCase):
    def test_a_submission_says_what_each_scheduler_needs(self):
        self.assertEqual(JOB.submission(1, 3),
                         "m01 2500 12 1-3 dfrs:speedup=1.000,1.846,2.000 12.0 6.5 6.0")
        sizes = [nodes(JOB) for _, nodes in moldable.SCHEDULERS.values()]
        self.assertEqual(sizes, [(1, 1), (2, 2), (1, 3), (1, 3)])
        self.assertEqual([JOB.limit(nodes) for nodes in (1, 2)], [12, 6])

    def test_criteria_count_from_the_first_submission(self):
        other = moldable.Job("m02", 7.5, 1, (4.0, 2.0))
        files = {"submitted": "100.0 m01 1\n100.5 m02 2\n",
                 "m01.job": record(101, 107, 2), "m02.job": record(101, 104, 1, on=[3])}
        result = moldable.figures([JOB, other], files)
        self.assertEqual(result["problems"], [])
        self.assertEqual((result["finished"], result["makespan"]), (2, 7.0))
        self.assertAlmostEqual(result["weighted_completion"], (2.5 * 7 + 7.5 * 4) / 10)
        self.assertAlmostEqual(result["used_percent"], 100 * (2 * 6 + 3) / (7 * 3))

    def test_what_went_wrong_is_said(self):
        def problems(text, **others):
            return moldable.figures([JOB], {"submitted": "100.0 m01 1\n", "m01.job": text, **others})["problems"]
        self.assertEqual(problems(""), ["m01: began 0 times, ended 0 times"])
        self.assertEqual(len(problems(record(101, 102, 1, status=1))), 1)
        self.assertEqual(problems(record(101, 102, 2, on=[1])), ["m01: has 2 nodes, and its step ran on n1"])

    def test_jobs_that_share_a_node_are_found(self):
        other = moldable.Job("m02", 1.0, 1, (4.0,))
        files = {"submitted": "100.0 m01 1\n", "m01.job": record(101, 107, 2), "m02.job": record(106, 110, 1, on=[2])}
        self.assertEqual(moldable.figures([JOB, other], files)["problems"], ["m01 and m02 were on n2 together"])
        files["m02.job"] = record(107, 110, 1, on=[2])
        self.assertEqual(moldable.figures([JOB, other], files)["problems"], [])

    def test_a_table_has_a_column_for_each_scheduler(self):
        files = {"submitted": "100.0 m01 1\n", "m01.job": record(101, 107, 2)}
        text = moldable.text({name: [moldable.figures([JOB], files)] for name in moldable.SCHEDULERS})
        self.assertIn("weighted mean completion, s", text)
        self.assertTrue(all(len(line) <= 95 for line in text.splitlines()), text)


if __name__ == "__main__":
    unittest.main()
