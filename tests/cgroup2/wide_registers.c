// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lets User-mode Linux run on processors with more registers than it knows of.
 *
 * It writes back as many bytes of a process's XSAVE area as it has room for (Linux 6.1), and the host
 * takes nothing but the whole of it: 11,008 bytes on processors with AMX, so that the machine's first
 * process dies with "ptrace set fp regs failed". Preloaded into linux.uml, this completes what is too
 * short with what the process has there already.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

typedef long (*ptrace_function)(enum __ptrace_request, ...);

static ptrace_function host_ptrace;

/* Not on the stack: the kernel's stacks are small. One thread alone calls ptrace. */
static char whole[1 << 16];

__attribute__((constructor)) static void find_host_ptrace(void)
{
	host_ptrace = (ptrace_function)dlsym(RTLD_NEXT, "ptrace");
}

static long set_completed(pid_t pid, const struct iovec *partial)
{
	struct iovec all = { whole, sizeof(whole) };
	long result = host_ptrace(PTRACE_GETREGSET, pid, (void *)NT_X86_XSTATE, &all);

	if (result)
		return result;
	if (partial->iov_len >= all.iov_len) {
		errno = EFAULT;
		return -1;
	}
	memcpy(whole, partial->iov_base, partial->iov_len);
	return host_ptrace(PTRACE_SETREGSET, pid, (void *)NT_X86_XSTATE, &all);
}

long ptrace(enum __ptrace_request request, ...)
{
	va_list arguments;
	va_start(arguments, request);
	pid_t pid = va_arg(arguments, pid_t);
	void *address = va_arg(arguments, void *);
	void *data = va_arg(arguments, void *);
	va_end(arguments);

	long result = host_ptrace(request, pid, address, data);

	if (result && request == PTRACE_SETREGSET && address == (void *)NT_X86_XSTATE && errno == EFAULT)
		return set_completed(pid, data);
	return result;
}
