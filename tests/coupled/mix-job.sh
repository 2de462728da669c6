#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The batch script of tests/coupled/mix: job lammps STEPS, or job hpcc ORDER. One rank on each node; notes when it
# began and ended.

program=$1 size=$2
work=$(mktemp --directory "$PWD/$SLURM_JOB_NAME.XXXXXX")
report=$PWD/$SLURM_JOB_NAME.job

# 2,048 atoms that repel and attract each other: a step of a millisecond on one core.
write_lammps() {
	cat >lammps.in <<-END
		units lj
		lattice fcc 0.8442
		region box block 0 8 0 8 0 8
		create_box 1 box
		create_atoms 1 box
		mass 1 1.0
		velocity all create 1.44 4711
		pair_style lj/cut 2.5
		pair_coeff 1 1 1.0 1.0 2.5
		fix 1 all nve
		thermo 1000
		run $size
	END
}

# Each line a value, in the order that HPCC reads them; what comes after the value is for people.
write_hpcc() {
	cat >hpccinf.txt <<-END
		one problem, on as many ranks as there are nodes

		hpl.out file
		8 to a file
		1 orders
		$size
		1 blocks
		80
		0 by rows
		1 grids
		1
		$SLURM_NTASKS
		16.0 threshold
		1 panels
		2
		1 stops
		4
		1 parts
		2
		1 recursions
		1
		1 broadcasts
		1
		1 depths
		1
		2 swap
		64 above
		0 transposed
		0 transposed
		1 equilibrated
		8 bytes
		two more lists, both empty
		0
		0
		0
		0
	END
}

echo "$EPOCHREALTIME begin $SLURM_JOB_ID" >>"$report"
cd "$work" || exit
case $program in
lammps)
	write_lammps
	command=(lmp -in lammps.in -log none)
	;;
hpcc)
	write_hpcc
	command=(hpcc)
	;;
esac
mpirun --map-by ppr:1:node --bind-to none "${command[@]}"
status=$?
[ "$program" != hpcc ] || grep -q "^Success=1" hpccoutf.txt || status=1
cd .. && rm -rf "$work"
echo "$EPOCHREALTIME end $SLURM_JOB_ID $status" >>"$report"
exit $status
