# SPDX-License-Identifier: GPL-2.0-or-later
"""The check of devices' holders, without a Slurm: python3 -B -m unittest discover --start-directory tests/e2e"""

import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import device_holders  # noqa: E402


def job(number, state, *lines):
    held = "".join(f"     {line}\n" for line in lines)
    return f"JobId={number} JobName=sbatch\n   JobState={state} Reason=None\n   JOB_GRES=gpu:1\n{held}   Comment=x\n"


def node(name, used):
    return f"NodeName={name} Arch=x86_64\n   Gres=gpu:2\n   GresDrain=N/A\n   GresUsed={used}\n"


class Holders(unittest.TestCase):
    def wrong(self, jobs, *nodes):
        return device_holders.wrong("\n".join(jobs), "\n".join(nodes))

    def test_devices_with_a_holder_each_are_fine(self):
        jobs = [job(1, "RUNNING", "Nodes=n[1-2] CPU_IDs=0 Mem=50 GRES=gpu:1(IDX:0)"),
                job(2, "SUSPENDED", "Nodes=n1 CPU_IDs=1 Mem=50 GRES=gpu:(null):1(IDX:1)"),
                job(3, "PENDING"), job(4, "COMPLETED", "Nodes=n1 CPU_IDs=1 Mem=50 GRES=gpu:1(IDX:1)"),
                job(5, "RUNNING", "Nodes=n3 CPU_IDs=1 Mem=50 GRES=")]
        nodes = [node("n1", "gpu:(null):1,gpu:a:1(IDX:1)"), node("n2", "gpu:1"), node("n3", "gpu:0,nic:0")]
        self.assertEqual(self.wrong(jobs, *nodes), [])

    def test_two_holders_are_wrong_also_if_one_is_ending(self):
        for state in ("RUNNING", "SUSPENDED", "COMPLETING"):
            jobs = [job(1, "RUNNING", "Nodes=n1 CPU_IDs=0 Mem=50 GRES=gpu:2(IDX:0-1)"),
                    job(2, state, "Nodes=n1 CPU_IDs=1 Mem=50 GRES=gpu:1(IDX:1)")]
            self.assertEqual(self.wrong(jobs, node("n1", "gpu:2(IDX:0-1)")), ["n1 gpu 1 has two holders: jobs 1 and 2"])

    def test_the_same_number_on_another_node_is_another_device(self):
        jobs = [job(1, "RUNNING", "Nodes=n1 CPU_IDs=0 Mem=50 GRES=gpu:1(IDX:0)"),
                job(2, "RUNNING", "Nodes=n2 CPU_IDs=0 Mem=50 GRES=gpu:1(IDX:0)")]
        self.assertEqual(self.wrong(jobs, node("n1", "gpu:1"), node("n2", "gpu:1")), [])

    def test_a_count_of_the_node_that_differs_is_wrong(self):
        jobs = [job(1, "RUNNING", "Nodes=n1 CPU_IDs=0 Mem=50 GRES=gpu:1(IDX:0)")]
        self.assertEqual(self.wrong(jobs, node("n1", "gpu:2")), ["n1 gpu: 2 in use, 1 held by jobs"])
        self.assertEqual(self.wrong(jobs, node("n1", "gpu:0(IDX:N/A)")), ["n1 gpu: 0 in use, 1 held by jobs"])
        self.assertEqual(self.wrong([], node("n1", "nic:0,gpu:a:1(IDX:0)")), ["n1 gpu: 1 in use, 0 held by jobs"])

    def test_lists_of_numbers_and_hosts_are_read(self):
        self.assertEqual(list(device_holders.numbers("0-2,5")), [0, 1, 2, 5])
        self.assertEqual(device_holders.hosts("n[1-2,4]"), ["n1", "n2", "n4"])
        self.assertEqual(device_holders.hosts("n3"), ["n3"])


if __name__ == "__main__":
    unittest.main()
