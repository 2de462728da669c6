/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A tightly coupled parallel program: each rank computes a block, then all wait for all (an
 * allreduce of one number), again and again. Prints one line: steps done, mean wall time of a step,
 * and the mean CPU time of a block, in microseconds. Their ratio is what the step cost beyond
 * computing, in one run, so that a machine that is faster or slower meanwhile does not matter.
 *
 *   mpirun -np N coupled BLOCK_MICROSECONDS SECONDS
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double seconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec + now.tv_nsec * 1e-9;
}

/* Arithmetic that no compiler can leave out. */
static double work(long rounds)
{
	volatile double sum = 1.0;

	for (long i = 0; i < rounds; i++)
		sum = sum * 0.999999 + 1e-6;
	return sum;
}

/* Rounds that take so much CPU time, by the fastest of a few tries. */
static long rounds_of(double block)
{
	const long trial = 200000;
	double best = 1e9;

	for (int i = 0; i < 10; i++) {
		double begin = seconds(CLOCK_THREAD_CPUTIME_ID);

		work(trial);
		double took = seconds(CLOCK_THREAD_CPUTIME_ID) - begin;
		if (took < best)
			best = took;
	}
	return (long)(trial * block / best) + 1;
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: coupled BLOCK_MICROSECONDS SECONDS\n");
		return 2;
	}
	double block = atof(argv[1]) * 1e-6, length = atof(argv[2]);
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	long rounds = rounds_of(block);
	MPI_Allreduce(MPI_IN_PLACE, &rounds, 1, MPI_LONG, MPI_MIN, MPI_COMM_WORLD);

	double begin = seconds(CLOCK_MONOTONIC), computed = 0.0;
	long steps = 0;
	int go = 1;
	while (go) {
		double before = seconds(CLOCK_THREAD_CPUTIME_ID);

		work(rounds);
		computed += seconds(CLOCK_THREAD_CPUTIME_ID) - before;
		steps++;
		/* Rank 0 says in the same message whether the time is over. */
		go = rank != 0 || seconds(CLOCK_MONOTONIC) - begin < length;
		MPI_Allreduce(MPI_IN_PLACE, &go, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	}
	double wall = seconds(CLOCK_MONOTONIC) - begin;
	double total = 0.0;
	int ranks;

	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	MPI_Reduce(&computed, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("%ld %.3f %.3f\n", steps, wall / steps * 1e6, total / ranks / steps * 1e6);
	MPI_Finalize();
	return 0;
}
