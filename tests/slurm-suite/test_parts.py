# SPDX-License-Identifier: GPL-2.0-or-later
"""The comparison, without a Slurm: python3 -B -m unittest discover --start-directory tests/slurm-suite"""

import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent.parent / "docker/demo.d")]

import compare  # noqa: E402
import station  # noqa: E402
import suite  # noqa: E402


def results(**tests):
    return {name: {"result": result, "seconds": 1.0} for name, result in tests.items()}


class Comparison(unittest.TestCase):
    def setUp(self):
        self.results = {"backfill": results(a_1="pass", a_2="fail", a_3="pass"),
                        "off": results(a_1="pass", a_2="time", a_3="skip"),
                        "full": results(a_1="fail", a_2="pass")}
        self.order, compare.order = compare.order, lambda name: name

    def tearDown(self):
        compare.order = self.order

    def test_failing_and_taking_too_long_are_the_same(self):
        found = dict(compare.differences(self.results))
        self.assertEqual(found, {"a_1": ["full"], "a_2": ["full"], "a_3": ["off"]})

    def test_only_failures_that_others_do_not_have_are_repeated(self):
        self.assertEqual(compare.to_repeat(self.results), {"backfill": ["a_2"], "off": [], "full": ["a_1"]})

    def test_a_difference_without_a_reason_counts(self):
        text = f"{compare.HEADING}\n| --- | --- | --- |\n| a_1, a_2 | full, beside | on purpose |\n\n| a_3 | off | no |\n"
        reasons = compare.explained(text)
        lines, unexplained = compare.side_by_side(self.results, reasons)
        self.assertEqual(unexplained, 1)
        self.assertIn("NOT EXPECTED under off", lines[-1])
        self.assertEqual(compare.side_by_side(self.results, {**reasons, ("a_3", "off"): "why"})[1], 0)


class Names(unittest.TestCase):
    def test_python_tests_have_numbers_or_directories(self):
        for path, name in (("test_116_40.py", "116_40"), ("commands/sbatch/test_wrap.py", "commands/sbatch/wrap")):
            self.assertEqual(suite.python_name(pathlib.PurePath(path)), name)
            self.assertEqual(suite.python_file(name), path)
            self.assertTrue(suite.is_python(name))
        self.assertFalse(suite.is_python("1.31"))

    def test_numbers_come_first_and_in_their_order(self):
        names = ["commands/a", "1.10", "116_2", "1.2", "b"]
        self.assertEqual(sorted(names, key=suite.order), ["1.2", "1.10", "116_2", "b", "commands/a"])


class Devices(unittest.TestCase):
    """A made-up tree: tests of devices are run with devices only, and alone unless others are asked for."""

    def setUp(self):
        self.tree = tempfile.TemporaryDirectory()
        expect = pathlib.Path(self.tree.name, "testsuite/expect")
        expect.mkdir(parents=True)
        for name in ("test1.1", "test39.1", "test39.10", "test9.1"):
            (expect / name).write_text("")

    def tearDown(self):
        self.tree.cleanup()

    def chosen(self, devices, wanted=None):
        return suite.Suite(pathlib.Path(self.tree.name), devices).chosen(wanted)

    def test_which_are_run(self):
        self.assertEqual(self.chosen(False), ["1.1"])
        self.assertEqual(self.chosen(True), ["39.1", "39.10"])
        self.assertEqual(self.chosen(True, r"1\..*|39\.1"), ["1.1", "39.1"])


class Judgement(unittest.TestCase):
    def test_what_the_suite_says(self):
        self.assertEqual([station.judge("1.1", code, "") for code in (0, 1, 255, 124)], ["pass", "fail", "skip", "time"])
        for last, code, result in (("== 2 passed, 1 skipped in 3s ==", 0, "pass"), ("== 1 skipped in 1s ==", 0, "skip"),
                                   ("== 1 failed, 1 passed in 1s ==", 1, "fail")):
            self.assertEqual(station.judge("116_1", code, last), result)


if __name__ == "__main__":
    unittest.main()
