/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * carrier.c - dfrs-carrier: the three small processes between slurmstepd and a batch script that can be carried.
 *
 *   slurmstepd -- monitor -- init (PID 1 of the job's PID namespace) -- reap (in the image) -- batch script
 *
 *   dfrs-carrier monitor INIT_PID FD RESTARTS	the task as Slurm knows it; reads from FD, a socket, how the script ended
 *   dfrs-carrier init ROOT_PID FD		collects all that ends, writes to FD how ROOT_PID (reap) ended
 *   dfrs-carrier reap SCRIPT_PID		session leader, subreaper and parent of the script
 *
 * RESTARTS, how often the job had been requeued, is there for dfrsd to read. The first two are new on each node; reap
 * is dumped and restored with the script. Signals of slurmstepd go from one to the next, and each ends as the next one
 * did. What is sent to init or reap themselves, as to a process group or by the job's own processes, is not for the
 * script: only queued signals are passed on.
 *
 * Root, but not slurmstepd on a user's behalf, sends the monitor two more: HOLD, a dump begins, after which SIGTERM,
 * if SIGCONT came before it, means that Slurm takes the job from this node, and the rest waits; and RELEASE, the job
 * goes on here.
 *
 * The plugin's helper, the monitor's other child, fails if a restore fails: what was killed then is held, not failed.
 *
 * Any process of the user may send signals, and queue them with any sender's name (rt_sigqueueinfo): only what the
 * kernel itself has named (SI_USER) counts as root's, and a byte in the socket between both as the monitor's. None may
 * look into them: monitor and init are not dumpable, which mode 0711 of the program makes so from their first moment.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "exit.h"

#define HOLD (SIGRTMAX - 3)
#define RELEASE (SIGRTMAX - 4)
/* From the monitor to init, after a byte: end all, and wait for all, whose CPU time counts as the job's then. */
#define END (SIGRTMAX - 5)

/* How long init waits for what it has killed, in hundredths of a second. */
#define WAIT_FOR_KILLED 200
/* Within so many ms slurmstepd sends a signal to all processes of a step, if it does (SignalChildrenProcesses). */
#define TO_ALL 20
#define TO_ALL_EARLIER 200

enum role { MONITOR, INIT, REAP };

/* What this process is. */
static enum role role;
/* The next one, and whether it has ended, and with which wait status. */
static pid_t child;
static bool ended;
static int status;
/* The socket between init and monitor. */
static int report = -1;
/* When init itself got a signal from outside, in ms. */
static long long got_from_outside[_NSIG];
/* The monitor's other child, the plugin's helper: whether it has ended, and well. */
static bool helper_ended;
static bool helper_failed;
/* The monitor's: a dump has begun; what came since then. */
static bool held;
static bool continued;
static sigset_t kept;

/* Ends as the process with that wait status did. Its core was dumped already. */
__attribute__((noreturn)) static void end_as(int how)
{
	struct rlimit none = { 0, 0 };
	sigset_t set;

	if (!WIFSIGNALED(how))
		_exit(WEXITSTATUS(how));
	(void) setrlimit(RLIMIT_CORE, &none);
	(void) signal(WTERMSIG(how), SIG_DFL);
	(void) sigemptyset(&set);
	(void) sigprocmask(SIG_SETMASK, &set, NULL);
	(void) kill(getpid(), WTERMSIG(how));
	_exit(128 + WTERMSIG(how));
}

/* Kills all of the namespace and collects it. The kernel kills what we may not, or cannot wait for, when we end. */
static void end_rest(void)
{
	const struct timespec tick = { .tv_nsec = 10 * 1000 * 1000 };
	sigset_t set;
	pid_t pid;

	(void) sigemptyset(&set);
	(void) sigaddset(&set, SIGCHLD);
	for (int tries = 0; tries < WAIT_FOR_KILLED; tries++) {
		(void) kill(-1, SIGKILL);
		do {
			pid = waitpid(-1, NULL, WNOHANG);
		} while (pid > 0);
		if (pid < 0)
			return;
		(void) sigtimedwait(&set, NULL, &tick);
	}
}

static void note_helper(int how)
{
	helper_ended = true;
	helper_failed = !WIFEXITED(how) || WEXITSTATUS(how);
}

/* Whether what was to be restored was killed because that failed, if too late for init to end with EXIT_HELD. */
static bool is_cut_off(void)
{
	int how;
	pid_t pid = 0;

	if (!WIFSIGNALED(status) || (WTERMSIG(status) != SIGKILL))
		return false;
	while (!helper_ended && (((pid = waitpid(-1, &how, 0)) > 0) || (errno == EINTR))) {
		if (pid > 0)
			note_helper(how);
	}
	return helper_failed;
}

/* The next process has ended: so do we, but for a monitor that holds the job. */
static void follow(void)
{
	int reported;

	switch (role) {
	case INIT:
		end_rest();
		_exit((write(report, &status, sizeof(status)) == sizeof(status)) ? 0 : EXIT_HELD);
	case MONITOR:
		if (read(report, &reported, sizeof(reported)) == sizeof(reported))
			status = reported;
		if (is_cut_off())
			status = EXIT_HELD << 8;
		if (held)
			return;
		break;
	case REAP:
		break;
	}
	end_as(status);
}

/* Collects what has ended; stopped children are none. */
static void collect(void)
{
	int how;
	pid_t pid;

	while ((pid = waitpid(-1, &how, WNOHANG)) > 0) {
		if ((role == MONITOR) && (pid != child))
			note_helper(how);
		if (ended || (pid != child))
			continue;
		ended = true;
		status = how;
		follow();
	}
	/* What we were to wait for is not there, and never will be. What criu restores is its child first, and then ours. */
	if ((pid < 0) && (errno == ECHILD) && !ended && kill(child, 0) && (errno == ESRCH))
		_exit(EXIT_HELD);
}

static void pass_on(int number)
{
	if (ended)
		return;
	if (role == REAP)
		(void) kill(child, number);
	else
		(void) sigqueue(child, number, (union sigval) { 0 });
}

/* Slurm takes the job away: nothing of it is left when we have ended. */
__attribute__((noreturn)) static void give_away(void)
{
	if (!ended) {
		(void) send(report, "", 1, MSG_NOSIGNAL);
		(void) kill(child, END);
		while ((waitpid(child, NULL, 0) < 0) && (errno == EINTR))
			;
		status = SIGTERM;
	}
	end_as(status);
}

static void release(void)
{
	held = continued = false;
	if (ended)
		end_as(status);
	for (int number = 1; number <= SIGRTMAX; number++) {
		if (sigismember(&kept, number) == 1)
			pass_on(number);
	}
	(void) sigemptyset(&kept);
}

/* Whether Slurm takes the job away: it sends SIGCONT, and then SIGTERM, which the kernel hands out first. */
static bool is_taken_away(void)
{
	const struct timespec at_once = { 0 };
	sigset_t set;

	(void) sigemptyset(&set);
	(void) sigaddset(&set, SIGCONT);
	return continued || (sigtimedwait(&set, NULL, &at_once) == SIGCONT);
}

static void monitor_got(const siginfo_t *info)
{
	int number = info->si_signo;
	/* What slurmstepd sends is the user's wish. */
	bool from_root = (info->si_code == SI_USER) && !info->si_uid && (info->si_pid != getppid());

	if (from_root && (number == HOLD))
		held = true;
	else if (from_root && (number == RELEASE))
		release();
	else if (!held)
		pass_on(number);
	else if (number == SIGCONT)
		/* It must not wake what is dumped. */
		continued = true;
	else if ((number == SIGTERM) && is_taken_away())
		give_away();
	else
		(void) sigaddset(&kept, number);
}

static long long now(void)
{
	struct timespec time;

	(void) clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000LL + time.tv_nsec / 1000000;
}

/* Whether init gets the same signal from outside, too: then the script gets it as well, and not through us. */
static bool is_sent_to_all(int number)
{
	const struct timespec moment = { .tv_nsec = TO_ALL * 1000 * 1000 };
	sigset_t same;
	siginfo_t info;
	bool earlier = got_from_outside[number] && (now() - got_from_outside[number] < TO_ALL_EARLIER);

	got_from_outside[number] = 0;
	if (earlier)
		return true;
	(void) sigemptyset(&same);
	(void) sigaddset(&same, number);
	return (sigtimedwait(&same, &info, &moment) == number) && (info.si_code == SI_USER) && !info.si_pid;
}

/* The sender of what init is to heed is outside of the namespace, where PIDs are 0. */
static void init_got(const siginfo_t *info)
{
	char byte;

	if (info->si_pid)
		return;
	if (info->si_code == SI_QUEUE) {
		if (!is_sent_to_all(info->si_signo))
			pass_on(info->si_signo);
	} else if ((info->si_signo == END) && (recv(report, &byte, 1, MSG_DONTWAIT) == 1)) {
		end_rest();
		_exit(0);
	} else if (info->si_code == SI_USER) {
		got_from_outside[info->si_signo] = now();
	}
}

/* What reap is to heed is queued by init. */
static void reap_got(const siginfo_t *info)
{
	if ((info->si_pid == 1) && (info->si_code == SI_QUEUE))
		pass_on(info->si_signo);
}

/* A number from the command line that is at least MINIMUM; -1 if it is none. */
static int number_of(const char *text, int minimum)
{
	char *end;
	long number;

	errno = 0;
	number = strtol(text, &end, 10);
	if (errno || (end == text) || *end || (number < minimum) || (number > (1 << 22)))
		return -1;
	return (int) number;
}

static bool understand(int argc, char **argv)
{
	if (argc < 3)
		return false;
	if (!strcmp(argv[1], "monitor"))
		role = MONITOR;
	else if (!strcmp(argv[1], "init"))
		role = INIT;
	else if (!strcmp(argv[1], "reap"))
		role = REAP;
	else
		return false;
	if (argc != ((role == REAP) ? 3 : (role == INIT) ? 4 : 5))
		return false;
	child = number_of(argv[2], 2);
	if (role != REAP)
		report = number_of(argv[3], 0);
	return (child > 0) && ((role == REAP) || (report >= 0));
}

int main(int argc, char **argv)
{
	sigset_t all, urgent;
	siginfo_t info;
	const struct timespec at_once = { 0 };

	if (!understand(argc, argv)) {
		(void) fprintf(stderr, "dfrs-carrier: for spank_dfrs_carry.so only: "
			       "monitor INIT_PID FD RESTARTS | init ROOT_PID FD | reap SCRIPT_PID\n");
		return 2;
	}
	(void) sigfillset(&all);
	(void) sigprocmask(SIG_SETMASK, &all, NULL);
	if (role != REAP)
		(void) prctl(PR_SET_DUMPABLE, 0);
	/* If it is ignored, children leave no wait status. */
	(void) signal(SIGCHLD, SIG_DFL);
	if (role == REAP)
		(void) prctl(PR_SET_CHILD_SUBREAPER, 1);
	(void) sigemptyset(&kept);
	/* The kernel hands out low numbers first; but a SIGTERM after a HOLD is meant as such. */
	(void) sigemptyset(&urgent);
	(void) sigaddset(&urgent, HOLD);
	(void) sigaddset(&urgent, RELEASE);
	for (;;) {
		collect();
		if ((sigtimedwait(&urgent, &info, &at_once) < 0) && (sigwaitinfo(&all, &info) < 0))
			continue;
		if (info.si_signo == SIGCHLD)
			continue;
		if (role == MONITOR)
			monitor_got(&info);
		else if (role == INIT)
			init_got(&info);
		else
			reap_got(&info);
	}
}
