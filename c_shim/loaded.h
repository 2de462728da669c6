/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * loaded.h - other plugins that slurmctld has loaded, each privately.
 */
#ifndef DFRS_LOADED_H
#define DFRS_LOADED_H

#include "slurm_headers.h"

#include <dlfcn.h>
#include <stdio.h>

/* Looks for the library in the directories that slurmctld loads plugins from; NULL: it is not loaded.
 * It stays loaded until dlclose(). */
static inline void *dfrs_loaded_library(const char *file)
{
	const char *directory = slurm_conf.plugindir;

	while (directory && *directory) {
		size_t length = strcspn(directory, ":");
		char path[4096];
		void *library;

		if ((size_t) snprintf(path, sizeof(path), "%.*s/%s", (int) length, directory,
				      file) < sizeof(path)) {
			library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
			if (library)
				return library;
		}
		directory += length;
		directory += (*directory == ':');
	}
	return NULL;
}

#endif
