/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program without shared libraries: its allocator, its stack and its file position are all that it has. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { STEPS = 26 };

struct link {
	struct link *next;
	unsigned long value;
};

static unsigned long sum(const struct link *link)
{
	return link ? link->value + sum(link->next) : 0;
}

int main(void)
{
	struct link *first = NULL;
	unsigned long value = 1;
	FILE *file = fopen("static.txt", "w+");

	if (!file)
		return 2;
	for (int step = 0; step < STEPS; step++) {
		for (int i = 0; i < 500; i++) {
			struct link *link = malloc(sizeof(*link));

			if (!link)
				return 2;
			value = value * 6364136223846793005UL + 1442695040888963407UL;
			*link = (struct link) { .next = first, .value = value };
			first = link;
		}
		printf("%d %lu\n", step, sum(first));
		fflush(stdout);
		fprintf(file, "%lu\n", sum(first));
		usleep(500000);
	}
	rewind(file);
	value = 0;
	for (unsigned long line; fscanf(file, "%lu", &line) == 1;)
		value += line;
	printf("all lines: %lu\n", value);
	return 9;
}
