/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * spank_dfrs_carry.c - starts batch scripts so that they can be carried to another node, or restores carried ones.
 *
 * plugstack.conf:
 *   required spank_dfrs_carry.so images=DIRECTORY partitions=main,long [carrier=PATH] [dfrsd=PATH] [criu=PATH]
 *
 * Nothing happens in steps other than the batch script, nor in other partitions and in jobs of several nodes, but that
 * what waits with an image is held there, too.
 *
 * task_init_privileged (root, outside the job's cgroups): forks a helper that stays root, and unshares.
 * task_init (the user, in the job's cgroups): becomes the monitor, whose child is init, PID 1 of the new namespace.
 *   The helper mounts its /proc, and has dfrsd restore the image if there is one; else init forks reap, and reap the
 *   process that returns from here and that slurmstepd makes the script (carrier.c says what these are).
 * Both are needed: unshare needs root, and what was forked before the cgroups were joined would be outside them.
 *
 * As long as nothing was changed, a job that cannot be set up runs as without the plugin. After that, and whenever it
 * has an image that is not restored, it ends with 125, by which Slurm holds it (RequeueExitHold=125), and the image is
 * kept. So it does if this very start, which slurmctld has forgotten, has gone on from the image already, and if it
 * never ran and there is an image: that is of another job of this number, or slurmctld has forgotten all of its runs.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <slurm/slurm.h>
#include <slurm/spank.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exit.h"

SPANK_PLUGIN(dfrs_carry, 1);

/* PIDs below stay free for criu, as those that the kernel leaves out when numbers wrap around. */
#define FIRST_PID 300
/* Between the first PIDs of two jobs: names with $$ in a shared directory shall differ. */
#define PID_STRIDE 4099
/* After a carry a job has new ones: its script may still ask for the status of an old one. */
#define PIDS_PER_CARRY 512
#define NUMBER_SIZE 24
/* What dfrsd says when the image is restored, and waits for init. */
#define RESTORED "restored"
/* Files in an image: a start has gone on from it; one may have. */
#define RESTORED_MARK "restored"
#define RESTORING_MARK "restoring"

/* The words of plugstack.conf. */
static struct {
	const char *images;
	const char *partitions;
	const char *carrier;
	const char *dfrsd;
	const char *criu;
} options = { .carrier = "/usr/libexec/dfrs/dfrs-carrier", .dfrsd = "/usr/sbin/dfrsd" };

enum image { NO_IMAGE, IMAGE, USED_IMAGE, UNCLEAR };

/* The job, and what the first hook leaves to the second. */
static struct {
	/* Whether the task is a batch script, and whether that is of a job which can be carried. */
	bool ours, served;
	uint32_t job;
	uid_t uid;
	enum image image;
	/* PID of the image's root in its namespace. */
	pid_t root;
	/* How often the job was requeued before the start that has gone on from its image. */
	uint32_t restored_by;
	/* Whether namespaces were made. */
	bool on;
	int to_helper;
	int from_helper;
} state;

/* What the second hook has the helper do. */
struct order {
	pid_t init;
	/* 0: the script begins. */
	pid_t root;
	uint32_t restarts;
	/* Nothing begins: the start has been made already. */
	bool keep_image;
};

__attribute__((noreturn)) static void hold_job(void)
{
	slurm_error("dfrs carry: JobId=%u: not started; it exits with %d, by which Slurm holds it (RequeueExitHold)",
		    state.job, EXIT_HELD);
	_exit(EXIT_HELD);
}

/* As hold_job, after a system call has failed. */
__attribute__((noreturn)) static void fail(const char *what)
{
	slurm_error("dfrs carry: JobId=%u: %s: %m", state.job, what);
	hold_job();
}

/* The options; false if they are wrong. */
static bool read_options(int argc, char **argv)
{
	const struct {
		const char *word;
		const char **value;
	} known[] = {
		{ "images=", &options.images },	  { "partitions=", &options.partitions },
		{ "carrier=", &options.carrier }, { "dfrsd=", &options.dfrsd },
		{ "criu=", &options.criu },
	};
	size_t i, count = sizeof(known) / sizeof(known[0]);

	for (int arg = 0; arg < argc; arg++) {
		for (i = 0; i < count; i++) {
			if (!strncmp(argv[arg], known[i].word, strlen(known[i].word)))
				break;
		}
		if (i == count) {
			slurm_error("dfrs carry: plugstack.conf: '%s' is not known; jobs run as without the plugin",
				    argv[arg]);
			return false;
		}
		*known[i].value = argv[arg] + strlen(known[i].word);
		if ((known[i].value != &options.partitions) && (**known[i].value != '/')) {
			slurm_error("dfrs carry: plugstack.conf: '%s' is no absolute path; "
				    "jobs run as without the plugin", argv[arg]);
			return false;
		}
	}
	if (!options.images || !options.partitions) {
		slurm_error("dfrs carry: plugstack.conf: images= and partitions= are needed; "
			    "jobs run as without the plugin");
		return false;
	}
	return true;
}

/* Whether NAME is one of LIST, which commas separate. */
static bool is_listed(const char *name, const char *list)
{
	size_t length = strlen(name);

	while (length) {
		size_t word = strcspn(list, ",");

		if ((word == length) && !strncmp(list, name, word))
			return true;
		if (!list[word])
			break;
		list += word + 1;
	}
	return false;
}

/* Whether the task is a batch script; STATE then says of which job. */
static bool is_ours(spank_t spank)
{
	uint32_t step = 0;

	if (!spank_remote(spank) || (spank_get_item(spank, S_JOB_STEPID, &step) != ESPANK_SUCCESS) ||
	    (step != SLURM_BATCH_SCRIPT))
		return false;
	if ((spank_get_item(spank, S_JOB_ID, &state.job) != ESPANK_SUCCESS) ||
	    (spank_get_item(spank, S_JOB_UID, &state.uid) != ESPANK_SUCCESS)) {
		slurm_error("dfrs carry: Slurm does not say which job this is; it runs as without the plugin");
		return false;
	}
	return true;
}

/* Whether its job can be carried: it is in one of the partitions, and on one node. */
static bool is_served(spank_t spank)
{
	/* A name that does not fit is none of ours, if plugstack.conf has only shorter ones. */
	char partition[PATH_MAX], nodes[NUMBER_SIZE];

	if (spank_getenv(spank, "SLURM_JOB_PARTITION", partition, sizeof(partition)) != ESPANK_SUCCESS) {
		slurm_error("dfrs carry: SLURM_JOB_PARTITION cannot be read; the job runs as without the plugin");
		return false;
	}
	return is_listed(partition, options.partitions) &&
	       (spank_getenv(spank, "SLURM_JOB_NUM_NODES", nodes, sizeof(nodes)) == ESPANK_SUCCESS) &&
	       !strcmp(nodes, "1");
}

/* Reads the PID of the root from the file "ready" of an image: ROOT_PID UID RESTARTS. dfrsd looks at all of it. */
static bool read_ready(int fd)
{
	char line[128], end;
	struct stat status;
	unsigned uid, restarts;
	ssize_t length;

	if (fstat(fd, &status) || !S_ISREG(status.st_mode) || status.st_uid || (status.st_mode & (S_IWGRP | S_IWOTH))) {
		slurm_error("dfrs carry: %s/%u/ready is not a file that only root writes", options.images, state.job);
		return false;
	}
	length = read(fd, line, sizeof(line) - 1);
	if (length > 0)
		line[length] = '\0';
	if ((length <= 0) || (sscanf(line, "%d %u %u%c", &state.root, &uid, &restarts, &end) != 4) || (end != '\n') ||
	    (state.root < 2)) {
		slurm_error("dfrs carry: %s/%u/ready is damaged: not ROOT_PID UID RESTARTS", options.images, state.job);
		return false;
	}
	return true;
}

/* Opens a file of the job's image; -1 if it is not there, or, and then CLEAR is false, cannot be opened. */
static int open_of_image(int image, const char *name, bool *clear)
{
	int fd = openat(image, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if ((fd < 0) && (errno != ENOENT)) {
		slurm_error("dfrs carry: %s/%u/%s: %m", options.images, state.job, name);
		*clear = false;
	}
	return fd;
}

/* Reads the file by which dfrsd has marked the image for restored; false if there is none. */
static bool read_mark(int image, const char *name, bool *clear)
{
	char text[NUMBER_SIZE], *end = text;
	int fd = open_of_image(image, name, clear);
	ssize_t length = (fd < 0) ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd < 0)
		return false;
	(void) close(fd);
	text[(length > 0) ? length : 0] = '\0';
	state.restored_by = (uint32_t) strtoul(text, &end, 10);
	if ((end == text) || strcmp(end, "\n")) {
		slurm_error("dfrs carry: %s/%u/%s is damaged: not a number", options.images, state.job, name);
		*clear = false;
	}
	return true;
}

/*
 * Whether there is an image of the job, and whether it was used; UNCLEAR if that cannot be found out. The marks of a
 * restore come last when they are made, and go last.
 */
static enum image kind_of(int image)
{
	bool clear = true, used = read_mark(image, RESTORED_MARK, &clear);
	int ready;

	if (!used && clear && read_mark(image, RESTORING_MARK, &clear)) {
		slurm_error("dfrs carry: JobId=%u: it is not known whether the run after %u requeues was restored from "
			    "%s/%u: it is held; to restart it: dfrsd release --job %u --images %s --discard, then scontrol "
			    "release %u", state.job, state.restored_by, options.images, state.job, state.job,
			    options.images, state.job);
		return UNCLEAR;
	}
	if (!clear || used)
		return clear ? USED_IMAGE : UNCLEAR;
	ready = open_of_image(image, "ready", &clear);
	if (ready < 0)
		return clear ? NO_IMAGE : UNCLEAR;
	clear = read_ready(ready);
	(void) close(ready);
	return clear ? IMAGE : UNCLEAR;
}

/*
 * The directory of the job's image; -1 if there is none, or, and then CLEAR is false, that cannot be found out. Both
 * directories are opened: a client of NFS believes for a minute what it has seen in one before.
 */
static int open_image(bool *clear)
{
	int directory, image = -1;
	bool mounted;
	char name[NUMBER_SIZE];

	(void) snprintf(name, sizeof(name), "%u", state.job);
	directory = open(options.images, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	mounted = (directory >= 0) && !faccessat(directory, "lock", F_OK, 0);
	/* Of a job that cannot be carried nothing is missed. */
	*clear = !mounted && !state.served;
	if (mounted) {
		image = openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		*clear = (image >= 0) || (errno == ENOENT);
		if (!*clear)
			slurm_error("dfrs carry: %s/%s: %m", options.images, name);
	} else if (state.served && (directory < 0)) {
		slurm_error("dfrs carry: %s: %m; the node must see the directory of images", options.images);
	} else if (state.served) {
		slurm_error("dfrs carry: %s/lock: %m; is the directory of images mounted?", options.images);
	}
	if (directory >= 0)
		(void) close(directory);
	return image;
}

static enum image find_image(void)
{
	bool clear;
	int image = open_image(&clear);
	enum image found;

	if (image < 0)
		return clear ? NO_IMAGE : UNCLEAR;
	found = kind_of(image);
	(void) close(image);
	return found;
}

/* The image is kept, and holds the job at each start, until an administrator has decided. */
static bool keep_image(void)
{
	bool clear;
	int image = open_image(&clear), mark;
	bool good = (image >= 0) && !renameat(image, RESTORED_MARK, image, RESTORING_MARK);

	if ((image >= 0) && !good && (errno == ENOENT)) {
		mark = openat(image, RESTORING_MARK, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		good = (mark >= 0) && (write(mark, "0\n", 2) == 2) && !fsync(mark) && !fsync(image);
		if (mark >= 0)
			(void) close(mark);
	}
	if (!good)
		slurm_error("dfrs carry: JobId=%u: marking its image: %m", state.job);
	if (image >= 0)
		(void) close(image);
	return good;
}

/* Whether the program is root's alone to change: the monitor is trusted by what it runs. */
static bool carrier_is_there(void)
{
	struct stat status;

	if (stat(options.carrier, &status)) {
		slurm_error("dfrs carry: %s: %m; install it, or say carrier= in plugstack.conf", options.carrier);
		return false;
	}
	if (!S_ISREG(status.st_mode) || status.st_uid || (status.st_mode & (S_IWGRP | S_IWOTH)) ||
	    !(status.st_mode & S_IXOTH)) {
		slurm_error("dfrs carry: %s: not a program of root's that all may run, and only root may change",
			    options.carrier);
		return false;
	}
	return true;
}

/* Closes all descriptors from FIRST on. */
static void close_from(int first)
{
#ifdef SYS_close_range
	if (!syscall(SYS_close_range, first, ~0U, 0))
		return;
#endif
	for (long fd = sysconf(_SC_OPEN_MAX) - 1; fd >= first; fd--)
		(void) close((int) fd);
}

static void unblock_signals(void)
{
	sigset_t none;

	(void) sigemptyset(&none);
	(void) sigprocmask(SIG_SETMASK, &none, NULL);
}

/* The exit status of a child; -1 if it was killed. */
static int exit_of(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return -1;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The helper's part: root's, outside the namespaces. */

/* The directory in /proc of a process: what is opened below is of it, and of no later one with its PID. */
static int hold(pid_t pid)
{
	char path[64];
	int fd;

	(void) snprintf(path, sizeof(path), "/proc/%d", pid);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		slurm_error("dfrs carry: %s: %m", path);
	return fd;
}

/* The parent of a process that is held; -1 if it is gone. */
static pid_t parent_of(int process)
{
	char text[1024], *end;
	int fd = openat(process, "stat", O_RDONLY | O_CLOEXEC), parent = -1;
	ssize_t length = (fd < 0) ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		(void) close(fd);
	if (length <= 0)
		return -1;
	text[length] = '\0';
	/* Its name may have any characters in it. */
	end = strrchr(text, ')');
	return (end && (sscanf(end, ") %*c %d", &parent) == 1)) ? parent : -1;
}

/* Whether a process that is held is in our user namespace: it cannot have made a namespace then, nor entered one. */
static bool is_of_our_users(int process)
{
	struct stat own, other;

	return !stat("/proc/self/ns/user", &own) && !fstatat(process, "ns/user", &other, 0) &&
	       (own.st_dev == other.st_dev) && (own.st_ino == other.st_ino);
}

/* Enters a namespace of a process that is held. */
static bool enter(int process, const char *name, int kind)
{
	int fd = openat(process, name, O_RDONLY | O_CLOEXEC);
	bool good = (fd >= 0) && is_of_our_users(process) && !setns(fd, kind);

	if (!good)
		slurm_error("dfrs carry: entering %s: %m", name);
	if (fd >= 0)
		(void) close(fd);
	return good;
}

/*
 * Has the PIDs of a script, or the next ones of a restored job, begin at a number of the job's own. Without, the job
 * runs, but may not be carried.
 */
static void choose_pids(const struct order *order)
{
	const char *path = "/proc/sys/kernel/ns_last_pid";
	unsigned long long most = 32768;
	char number[NUMBER_SIZE];
	FILE *file = fopen("/proc/sys/kernel/pid_max", "re");
	int fd, length;

	if (file) {
		if (fscanf(file, "%llu", &most) != 1)
			most = 32768;
		(void) fclose(file);
	}
	/* Half of the numbers: those that follow are the job's, too. */
	most = (most > (4 * FIRST_PID)) ? (most / 2) : (2 * FIRST_PID);
	length = snprintf(number, sizeof(number), "%llu",
			  FIRST_PID + (((unsigned long long) state.job * PID_STRIDE +
					(order->root ? (unsigned long long) order->restarts * PIDS_PER_CARRY : 0)) %
				       (most - FIRST_PID)));
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if ((fd < 0) || (write(fd, number, length) != length))
		slurm_error("dfrs carry: %s: %m; JobId=%u runs, but its PIDs may be in use where it is carried to", path,
			    state.job);
	if (fd >= 0)
		(void) close(fd);
}

/* In the namespace of PIDs. */
static bool mount_own(const struct order *order)
{
	if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL)) {
		slurm_error("dfrs carry: mounting /proc: %m");
		return false;
	}
	/* criu makes deleted files there again, by their names: no other process can be there meanwhile. */
	if (order->root && mount("dfrs-carry", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777")) {
		slurm_error("dfrs carry: mounting /dev/shm: %m");
		return false;
	}
	/* criu takes numbers, too, and not those of the image. */
	if (!order->root)
		choose_pids(order);
	return true;
}

static bool choose_next_pids(const struct order *order)
{
	choose_pids(order);
	return true;
}

/*
 * Has a child ACT in the namespaces of the monitor, which is held, and its child init. A process of a PID namespace is
 * forked into it.
 */
static bool inside(int monitor, const struct order *order, bool (*act)(const struct order *))
{
	pid_t outer, inner, of_monitor = getppid();
	int init;

	outer = fork();
	if (outer)
		return (outer > 0) && !exit_of(outer);
	init = hold(order->init);
	/* PIDs first: in the other namespace /proc is the job's. */
	if ((init < 0) || !enter(init, "ns/pid", CLONE_NEWPID) || (parent_of(init) != of_monitor) ||
	    !enter(monitor, "ns/mnt", CLONE_NEWNS))
		_exit(1);
	inner = fork();
	if (inner)
		_exit(((inner > 0) && !exit_of(inner)) ? 0 : 1);
	_exit(act(order) ? 0 : 1);
}

/* What criu restores runs where we do: on the CPUs of the monitor. */
static void take_cpus_of(pid_t pid)
{
	unsigned long cpus[1024] = { 0 };
	cpu_set_t *set = (cpu_set_t *) cpus;

	if (sched_getaffinity(pid, sizeof(cpus), set) || sched_setaffinity(0, sizeof(cpus), set))
		slurm_error("dfrs carry: CPUs of JobId=%u: %m; it runs on those of slurmd", state.job);
}

__attribute__((noreturn)) static void run_dfrsd(pid_t monitor, const struct order *order, int output)
{
	char job[NUMBER_SIZE], uid[NUMBER_SIZE], restarts[NUMBER_SIZE], of_monitor[NUMBER_SIZE], of_init[NUMBER_SIZE];
	const char *const words[] = {
		options.dfrsd, "restore", "--job", job,		"--uid",    uid,	    "--restarts", restarts,
		"--monitor",   of_monitor, "--init", of_init, "--images", options.images,
		options.criu ? "--criu" : NULL, options.criu, NULL,
	};
	int null = open("/dev/null", O_RDONLY);

	(void) snprintf(job, sizeof(job), "%u", state.job);
	(void) snprintf(uid, sizeof(uid), "%u", (unsigned) state.uid);
	(void) snprintf(restarts, sizeof(restarts), "%u", order->restarts);
	(void) snprintf(of_monitor, sizeof(of_monitor), "%d", monitor);
	(void) snprintf(of_init, sizeof(of_init), "%d", order->init);
	if ((dup2(null, 0) < 0) || (dup2(output, 1) < 0) || (dup2(output, 2) < 0))
		_exit(EXIT_HELD);
	close_from(3);
	(void) execv(options.dfrsd, (char *const *) words);
	(void) dprintf(2, "%s: %s\n", options.dfrsd, strerror(errno));
	_exit(EXIT_HELD);
}

/* Answers init: 1, it is to be PID 1 of the job. */
static bool answer(int out, char byte)
{
	return write(out, &byte, 1) == 1;
}

/*
 * Has dfrsd restore the image, and says what it says. When it has looked at what is restored, it says RESTORED, and
 * waits for init to take that over: then it marks the image, and lets it go on.
 */
static bool restore(int process, const struct order *order, int out)
{
	pid_t monitor = getppid();
	bool answered = false;
	int output[2], status;
	char *line = NULL;
	size_t size = 0;
	FILE *lines;
	pid_t pid;

	take_cpus_of(monitor);
	if (pipe2(output, O_CLOEXEC)) {
		slurm_error("dfrs carry: pipe: %m");
		(void) answer(out, 0);
		return false;
	}
	pid = fork();
	if (!pid)
		run_dfrsd(monitor, order, output[1]);
	(void) close(output[1]);
	lines = fdopen(output[0], "r");
	while (lines && (getline(&line, &size, lines) > 0)) {
		if (answered || strcmp(line, RESTORED "\n"))
			slurm_info("dfrs carry: %.*s", (int) strcspn(line, "\n"), line);
		else
			answered = inside(process, order, choose_next_pids) && answer(out, 1);
	}
	free(line);
	if (lines)
		(void) fclose(lines);
	status = (pid > 0) ? exit_of(pid) : -1;
	if (status)
		slurm_error("dfrs carry: JobId=%u: its image in %s was not restored (status %d); see slurmd's log",
			    state.job, options.images, status);
	if (!answered)
		(void) answer(out, 0);
	return !status;
}

/* Waits for its order, does what root must, and answers with a byte: 1 if all went well. */
__attribute__((noreturn)) static void help(pid_t monitor, int in, int out)
{
	/* As long as no user could have ended the monitor. */
	int process = hold(monitor);
	struct order order;

	/* Signals to the monitor's process group are not for us. */
	(void) setsid();
	(void) signal(SIGCHLD, SIG_DFL);
	unblock_signals();
	if (read(in, &order, sizeof(order)) != sizeof(order))
		_exit(0);
	if (order.keep_image)
		_exit(answer(out, keep_image()) ? 0 : 1);
	if ((process < 0) || (getppid() != monitor) || !inside(process, &order, mount_own))
		_exit(answer(out, 0) ? 0 : 1);
	if (order.root)
		_exit(restore(process, &order, out) ? 0 : 1);
	_exit(answer(out, 1) ? 0 : 1);
}

/* Forks the helper; its PID, or -1. */
static pid_t start_helper(void)
{
	int to[2], from[2];
	pid_t monitor = getpid(), helper;

	if (pipe2(to, O_CLOEXEC))
		return -1;
	if (pipe2(from, O_CLOEXEC)) {
		(void) close(to[0]);
		(void) close(to[1]);
		return -1;
	}
	helper = fork();
	if (!helper) {
		(void) close(to[1]);
		(void) close(from[0]);
		help(monitor, to[0], from[1]);
	}
	(void) close(to[0]);
	(void) close(from[1]);
	state.to_helper = to[1];
	state.from_helper = from[0];
	if (helper < 0) {
		(void) close(to[1]);
		(void) close(from[0]);
	}
	return helper;
}

/* The PID namespace is the last: nothing has to be undone then if one is refused. */
static bool unshare_all(void)
{
	return !unshare(CLONE_NEWNS | CLONE_NEWIPC) && !mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) &&
	       !unshare(CLONE_NEWPID);
}

int slurm_spank_task_init_privileged(spank_t spank, int argc, char **argv)
{
	pid_t helper = -1;

	if (!spank_remote(spank) || !read_options(argc, argv) || !is_ours(spank))
		return 0;
	state.ours = true;
	/* Of the job from which it was submitted, if that was requeued: Slurm has not set this one's yet. */
	(void) spank_unsetenv(spank, "SLURM_RESTART_COUNT");
	state.served = is_served(spank);
	state.image = find_image();
	if ((state.served || (state.image == IMAGE)) && carrier_is_there()) {
		helper = start_helper();
		state.on = (helper > 0) && unshare_all();
		if (!state.on)
			slurm_error("dfrs carry: JobId=%u: %s: %m", state.job,
				    (helper > 0) ? "new namespaces" : "starting a helper");
	}
	if (!state.on && (helper > 0)) {
		/* It sees that there is nothing to do. */
		(void) close(state.to_helper);
		(void) close(state.from_helper);
		(void) exit_of(helper);
	}
	return 0;
}

/* The user's part. */

/* Turns into a process of carrier.c. It has no environment: what it had is slurmd's. */
__attribute__((noreturn)) static void become(const char *role, pid_t pid, int fd, const char *more)
{
	char number[NUMBER_SIZE], *none[] = { NULL };
	int null = open("/dev/null", O_RDWR);
	char *argv[] = { "dfrs-carrier", (char *) role, number, (fd < 0) ? NULL : "3", (char *) more, NULL };

	/* The log is closed when it is too late. */
	if (access(options.carrier, X_OK))
		fail("running dfrs-carrier");
	(void) snprintf(number, sizeof(number), "%d", pid);
	if ((dup2(null, 0) < 0) || (dup2(null, 1) < 0) || (dup2(null, 2) < 0) || ((fd >= 0) && (dup2(fd, 3) < 0)))
		fail("/dev/null for dfrs-carrier");
	close_from((fd < 0) ? 3 : 4);
	(void) execve(options.carrier, argv, none);
	_exit(EXIT_HELD);
}

/* Whether a lower descriptor than FD is of the same file; that one, or -1. */
static int twin_of(int fd, const struct stat *file, int flags)
{
	struct stat status;

	for (int twin = 0; twin < fd; twin++) {
		if (!fstat(twin, &status) && (status.st_dev == file->st_dev) && (status.st_ino == file->st_ino) &&
		    (fcntl(twin, F_GETFL) == flags))
			return twin;
	}
	return -1;
}

/*
 * Opens stdin, stdout or stderr again by its path: slurmstepd opened it in its own mount namespace, and criu looks for
 * its mount in the job's. What has no path, as a pipe, stays; dfrsd says whether such a job can be carried.
 */
static void reopen(int fd)
{
	char link[64], path[PATH_MAX];
	struct stat before, after;
	int flags = fcntl(fd, F_GETFL), again;
	off_t at = lseek(fd, 0, SEEK_CUR);
	ssize_t length;

	(void) snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof(path));
	if ((flags < 0) || fstat(fd, &before) || (length <= 0) || (length >= (ssize_t) sizeof(path)) ||
	    !(S_ISREG(before.st_mode) || S_ISCHR(before.st_mode)))
		return;
	path[length] = '\0';
	again = twin_of(fd, &before, flags);
	if (again >= 0) {
		(void) dup2(again, fd);
		return;
	}
	again = open(path, (flags & ~(O_CREAT | O_TRUNC | O_EXCL)) | O_NOCTTY | O_CLOEXEC);
	if ((again < 0) || fstat(again, &after) || (before.st_dev != after.st_dev) || (before.st_ino != after.st_ino) ||
	    ((at > 0) && (lseek(again, at, SEEK_SET) < 0)) || (dup2(again, fd) < 0))
		slurm_info("dfrs carry: JobId=%u: %s cannot be opened again, it may not be carried", state.job, path);
	if (again >= 0)
		(void) close(again);
}

/* PID 1 of the namespace; only the script's process returns. */
static void be_init(pid_t root, int report)
{
	char answer = 0;
	pid_t reap, script;

	(void) close(state.to_helper);
	/* Signals to the group of the monitor are for the script, to which it passes them on. */
	(void) setpgid(0, 0);
	if ((read(state.from_helper, &answer, 1) != 1) || (answer != 1))
		_exit(EXIT_HELD);
	if (root)
		become("init", root, report, NULL);
	reap = fork();
	if (reap < 0)
		fail("forking");
	if (reap > 0)
		become("init", reap, report, NULL);
	(void) close(report);
	(void) close(state.from_helper);
	(void) setsid();
	script = fork();
	if (script < 0)
		fail("forking");
	if (script > 0)
		become("reap", script, -1, NULL);
	(void) setpgid(0, 0);
	for (int fd = 0; fd < 3; fd++)
		reopen(fd);
}

/*
 * How often the job was requeued. Slurm sets neither S_SLURM_RESTART_COUNT nor, before the second hook, the variable;
 * where it is 0 the variable is the user's, who gains nothing by it.
 */
static uint32_t count_restarts(spank_t spank)
{
	char text[NUMBER_SIZE];

	if (spank_getenv(spank, "SLURM_RESTART_COUNT", text, sizeof(text)) != ESPANK_SUCCESS)
		return 0;
	return (uint32_t) strtoul(text, NULL, 10);
}

/* Waits until the helper has kept the image. */
static void hold_image(void)
{
	struct order order = { .keep_image = true };
	char answer;

	if (!state.on || (write(state.to_helper, &order, sizeof(order)) != sizeof(order)) ||
	    (read(state.from_helper, &answer, 1) != 1))
		slurm_error("dfrs carry: JobId=%u: its image cannot be protected, and dfrsd will remove it: copy %s/%u to "
			    "keep it", state.job, options.images, state.job);
}

int slurm_spank_task_init(spank_t spank, int argc, char **argv)
{
	int report[2];
	char restarts[NUMBER_SIZE];
	sigset_t all, before;
	struct order order = { 0 };

	(void) argc;
	(void) argv;
	if (!state.ours)
		return 0;
	order.restarts = count_restarts(spank);
	if (!order.restarts && (state.image == IMAGE)) {
		slurm_error("dfrs carry: JobId=%u: its first start, and %s/%u is an image: of another job of this number "
			    "(dfrsd release --job %u --images %s --discard), or slurmctld has lost its runs: it is held",
			    state.job, options.images, state.job, state.job, options.images);
		hold_image();
		hold_job();
	}
	/* A job of this number may have gone on from one, long ago. */
	if (!order.restarts)
		state.image = NO_IMAGE;
	if ((state.image == USED_IMAGE) && (state.restored_by >= order.restarts)) {
		slurm_error("dfrs carry: JobId=%u: the run after %u requeues was restored before, and slurmctld has lost "
			    "that: it is held, and its image kept", state.job, order.restarts);
		hold_image();
		hold_job();
	}
	if (state.image == USED_IMAGE) {
		slurm_info("dfrs carry: JobId=%u: it had gone on from its image, that run is over, and it restarts",
			   state.job);
		state.image = NO_IMAGE;
	}
	/* To begin from the start could throw away what the job has computed. */
	if ((state.image == IMAGE) && !state.served)
		slurm_error("dfrs carry: JobId=%u waits with its image in %s, which is restored on one node of partitions=%s "
			    "only: scontrol update its partition", state.job, options.images, options.partitions);
	if ((state.image == UNCLEAR) || ((state.image == IMAGE) && !(state.on && state.served)))
		hold_job();
	if (!state.served)
		return 0;
	if (!state.on) {
		slurm_error("dfrs carry: JobId=%u runs as without the plugin, and cannot be carried", state.job);
		return 0;
	}
	if (state.image == IMAGE)
		order.root = state.root;
	/* Each process of carrier.c waits for them. */
	(void) sigfillset(&all);
	(void) sigprocmask(SIG_SETMASK, &all, &before);
	/* It goes both ways: how the script ended, and that all is to end. */
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, report) || ((order.init = fork()) < 0))
		fail("forking");
	if (order.init > 0) {
		if (write(state.to_helper, &order, sizeof(order)) != sizeof(order))
			slurm_error("dfrs carry: JobId=%u: the helper is gone: %m", state.job);
		(void) close(report[1]);
		(void) snprintf(restarts, sizeof(restarts), "%u", order.restarts);
		become("monitor", order.init, report[0], restarts);
	}
	(void) close(report[0]);
	be_init(order.root, report[1]);
	(void) sigprocmask(SIG_SETMASK, &before, NULL);
	return 0;
}
