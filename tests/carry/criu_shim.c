/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * criu_shim.c - for tests only: preloaded, has criu dump in a container. No site needs it.
 *
 * - Without CAP_SYS_RESOURCE, which containers may lack, prlimit() of another user's process is refused, unless the
 *   caller has that user's ids for the call.
 * - Linux 6.16 and later refuse SO_PASSCRED and SO_PASSSEC on sockets that are not Unix sockets; criu before 4.2 takes
 *   that for a failure. They are 0 there.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static long (*real_syscall)(long, ...);
static int (*real_getsockopt)(int, int, int, void *restrict, socklen_t *restrict);
static int (*real_setsockopt)(int, int, int, const void *, socklen_t);

__attribute__((constructor)) static void find_real(void)
{
	*(void **) &real_syscall = dlsym(RTLD_NEXT, "syscall");
	*(void **) &real_getsockopt = dlsym(RTLD_NEXT, "getsockopt");
	*(void **) &real_setsockopt = dlsym(RTLD_NEXT, "setsockopt");
}

/* The saved ids stay root's. */
static void take_ids(long user, long group)
{
	(void) real_syscall(SYS_setresgid, group, -1L, -1L);
	(void) real_syscall(SYS_setresuid, user, -1L, -1L);
}

static long limit(const long *a)
{
	char path[64];
	struct stat owner;
	long rc = real_syscall(SYS_prlimit64, a[0], a[1], a[2], a[3]);

	if ((rc >= 0) || (errno != EPERM) || !a[0] || ((int) a[0] == getpid()))
		return rc;
	(void) snprintf(path, sizeof(path), "/proc/%d", (int) a[0]);
	if (stat(path, &owner)) {
		errno = EPERM;
		return rc;
	}
	take_ids(owner.st_uid, owner.st_gid);
	rc = real_syscall(SYS_prlimit64, a[0], a[1], a[2], a[3]);
	int error = errno;
	take_ids(0, 0);
	errno = error;
	return rc;
}

long syscall(long number, ...)
{
	long a[6];
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_prlimit64)
		return limit(a);
	return real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static bool is_refused(int rc, int level, int option)
{
	return (rc < 0) && (errno == EOPNOTSUPP) && (level == SOL_SOCKET) &&
	       ((option == SO_PASSCRED) || (option == SO_PASSSEC));
}

int getsockopt(int fd, int level, int option, void *restrict value, socklen_t *restrict length)
{
	int rc = real_getsockopt(fd, level, option, value, length);

	if (!is_refused(rc, level, option))
		return rc;
	*(int *) value = 0;
	*length = sizeof(int);
	return 0;
}

int setsockopt(int fd, int level, int option, const void *value, socklen_t length)
{
	int rc = real_setsockopt(fd, level, option, value, length);

	return is_refused(rc, level, option) ? 0 : rc;
}
