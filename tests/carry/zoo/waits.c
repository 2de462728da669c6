/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread in each kind of wait that ends by time, for twelve seconds: none may end early or with EINTR, as the
 * program did nothing by which a wait is interrupted.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

enum { SECONDS = 12 };

static const struct timespec whole = { SECONDS, 0 };
static struct timespec until;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

static int by_sleep(void)
{
	return (int) sleep(SECONDS);
}

static int by_usleep(void)
{
	return usleep(SECONDS * 1000000);
}

static int by_nanosleep(void)
{
	return nanosleep(&whole, NULL);
}

static int by_clock_nanosleep(void)
{
	return clock_nanosleep(CLOCK_MONOTONIC, 0, &whole, NULL);
}

static int by_poll(void)
{
	return poll(NULL, 0, SECONDS * 1000);
}

static int by_ppoll(void)
{
	return ppoll(NULL, 0, &whole, NULL);
}

static int by_select(void)
{
	struct timeval left = { SECONDS, 0 };

	return select(0, NULL, NULL, NULL, &left);
}

static int by_epoll(void)
{
	struct epoll_event event;

	return epoll_wait(epoll_create1(0), &event, 1, SECONDS * 1000);
}

/* These two say by ETIMEDOUT that the time is over. */
static int by_semaphore(void)
{
	sem_t semaphore;

	sem_init(&semaphore, 0, 0);
	return sem_timedwait(&semaphore, &until) == -1 && errno == ETIMEDOUT ? 0 : -1;
}

static int by_condition(void)
{
	int result;

	pthread_mutex_lock(&mutex);
	result = pthread_cond_timedwait(&condition, &mutex, &until);
	pthread_mutex_unlock(&mutex);
	return result == ETIMEDOUT ? 0 : -1;
}

static int by_sigtimedwait(void)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	return sigtimedwait(&signals, NULL, &whole) == -1 && errno == EAGAIN ? 0 : -1;
}

struct wait {
	const char *name;
	int (*run)(void);
	/* By the wall clock, which goes on while the job is carried: it may end early by the monotonic one. */
	int wall;
	int result;
	double seconds;
};

static struct wait waits[] = {
	{ .name = "sleep", .run = by_sleep },
	{ .name = "usleep", .run = by_usleep },
	{ .name = "nanosleep", .run = by_nanosleep },
	{ .name = "clock_nanosleep", .run = by_clock_nanosleep },
	{ .name = "poll", .run = by_poll },
	{ .name = "ppoll", .run = by_ppoll },
	{ .name = "select", .run = by_select },
	{ .name = "epoll_wait", .run = by_epoll },
	{ .name = "sem_timedwait", .run = by_semaphore, .wall = 1 },
	{ .name = "pthread_cond_timedwait", .run = by_condition, .wall = 1 },
	{ .name = "sigtimedwait", .run = by_sigtimedwait },
};

enum { WAITS = sizeof(waits) / sizeof(*waits) };

static double now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

static void *run(void *argument)
{
	struct wait *wait = argument;
	clockid_t clock = wait->wall ? CLOCK_REALTIME : CLOCK_MONOTONIC;
	double begin = now(clock);

	wait->result = wait->run();
	wait->seconds = now(clock) - begin;
	return NULL;
}

int main(void)
{
	pthread_t threads[WAITS];
	sigset_t signals;
	int failed = 0;

	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	puts("waiting");
	fflush(stdout);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += SECONDS;
	for (int i = 0; i < WAITS; i++)
		if (pthread_create(&threads[i], NULL, run, &waits[i]) != 0)
			return 2;
	for (int i = 0; i < WAITS; i++) {
		struct wait *wait = &waits[i];
		int early;

		pthread_join(threads[i], NULL);
		early = wait->seconds < SECONDS - 0.1;
		failed |= early || wait->result != 0;
		printf("%s %s, result %d\n", wait->name, early ? "short" : "whole", wait->result);
	}
	return failed;
}
