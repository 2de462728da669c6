/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * library.c - the plugin as a shared library.
 */
#include "internal.h"

#include <dlfcn.h>

int dfrs_keep_loaded(void)
{
	Dl_info info;

	/* RTLD_NOLOAD: it is loaded, only the flag is new. */
	if (dladdr((void *) dfrs_keep_loaded, &info) && info.dli_fname &&
	    dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE))
		return 0;
	error("dfrs: the plugin cannot be kept in memory: %s", dlerror());
	return -1;
}
