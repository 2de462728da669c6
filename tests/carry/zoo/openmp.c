/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <omp.h>
#include <stdio.h>
#include <unistd.h>

enum { STEPS = 26, SIZE = 200000 };

static unsigned long values[SIZE];

int main(void)
{
	for (int step = 0; step < STEPS; step++) {
		unsigned long total = 0;

#pragma omp parallel for schedule(static)
		for (int i = 0; i < SIZE; i++)
			values[i] = values[i] * 31 + (unsigned long) (i % (step + 7));
#pragma omp parallel for reduction(+ : total)
		for (int i = 0; i < SIZE; i++)
			total += values[i];
		printf("%d %lu\n", step, total);
		fflush(stdout);
		usleep(500000);
	}
	printf("%d threads\n", omp_get_max_threads());
	return 4;
}
