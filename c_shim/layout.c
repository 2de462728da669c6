/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * layout.c - the canary: are the records of the running slurmctld those that this shim was compiled
 * for?
 *
 * Slurm changes its records in micro releases, and a plugin of the wrong one reads garbage without
 * any complaint. Four things are checked: the size that was really allocated (xmalloc() keeps it), the
 * magic numbers, a look-up by key that must lead back to the same record, and for slurmctld's
 * global variables the size in its symbol table. With no job in the cluster only the others can be
 * looked at, so this runs before every pass, and each use of a job's record looks at its size again.
 */
#include "internal.h"

#include "bits.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

/* More records than this per call would hold the lock for too long; a wrong layout is wrong for
 * all of them. */
#define MAX_CHECKED_JOBS 200

typedef struct {
	const char *wrong;
	uint32_t seen;
	part_record_t *partition; /* the last one */
} check_t;

/* Reads through a pointer that may be garbage: write() answers EFAULT where a load would be the end
 * of slurmctld. (process_vm_readv() would do too, but containers' system-call filters forbid it.)
 * One pipe serves for the life of the process. */
static bool readable(const void *from, void *to, size_t size)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static int ends[2] = { -1, -1 };
	bool read_all = false;

	pthread_mutex_lock(&lock);
	if ((ends[0] >= 0) || !pipe2(ends, O_CLOEXEC))
		read_all = (write(ends[1], from, size) == (ssize_t) size) &&
			   (read(ends[0], to, size) == (ssize_t) size);
	pthread_mutex_unlock(&lock);
	return read_all;
}

static bool magic_is(const void *magic_field, uint32_t expected)
{
	uint32_t magic;

	return readable(magic_field, &magic, sizeof(magic)) && (magic == expected);
}

bool dfrs_is_job(const job_record_t *job)
{
	return job && (xsize((void *) job) == sizeof(*job)) && (job->magic == JOB_MAGIC);
}

job_record_t *dfrs_find_job(uint32_t job_id)
{
	job_record_t *job = find_job_record(job_id);

	return dfrs_is_job(job) ? job : NULL;
}

static const char *wrong_in_job(job_record_t *job)
{
	char byte;

	if (!dfrs_is_job(job))
		return "size of job_record_t";
	if (find_job_record(job->job_id) != job)
		return "job_id of job_record_t";
	if (job->details) {
		if (!magic_is(&job->details->magic, DETAILS_MAGIC))
			return "details of job_record_t";
		if (xsize(job->details) != sizeof(*job->details))
			return "size of job_details";
	}
	if (job->part_ptr && !magic_is(&job->part_ptr->magic, PART_MAGIC))
		return "part_ptr of job_record_t";
	if (job->job_resrcs && (!readable(job->job_resrcs, &byte, 1) ||
				(xsize(job->job_resrcs) != sizeof(*job->job_resrcs))))
		return "size of job_resources_t";
	/* The last member: everything before it is where it should be. */
	if (((const unsigned char *) &job->best_switch)[0] > 1)
		return "best_switch of job_record_t";
	return NULL;
}

static int check_job(void *record, void *argument)
{
	check_t *check = argument;

	check->wrong = wrong_in_job(record);
	return (check->wrong || (++check->seen >= MAX_CHECKED_JOBS)) ? -1 : 0;
}

static const char *wrong_in_node(node_record_t *node, int index)
{
	if (xsize(node) != sizeof(*node))
		return "size of node_record_t";
	if (node->magic != NODE_MAGIC)
		return "magic number of node_record_t";
	if ((int) node->index != index)
		return "index of node_record_t";
	if (!node->name || (find_node_record(node->name) != node))
		return "name of node_record_t";
	return NULL;
}

static int check_partition(void *record, void *argument)
{
	part_record_t *partition = record;
	check_t *check = argument;

	if (xsize(partition) != sizeof(*partition))
		check->wrong = "size of part_record_t";
	else if (partition->magic != PART_MAGIC)
		check->wrong = "magic number of part_record_t";
	else
		check->partition = partition;
	return check->wrong ? -1 : 0;
}

/* The size of a global variable of slurmctld's, by the symbol table; 0: not to be found out. */
static size_t symbol_size(const void *variable)
{
	const ElfW(Sym) *symbol = NULL;
	Dl_info info;

	if (!dladdr1(variable, &info, (void **) &symbol, RTLD_DL_SYMENT) || !symbol)
		return 0;
	return symbol->st_size;
}

static bool has_size(const void *variable, size_t size)
{
	size_t known = symbol_size(variable);

	return !known || (known == size);
}

static const char *wrong_in_globals(void)
{
	if (!has_size(&slurm_conf, sizeof(slurm_conf)))
		return "size of slurm_conf";
	if (!has_size(&slurmctld_config, sizeof(slurmctld_config)))
		return "size of slurmctld_config";
	if (!has_size(&slurmctld_diag_stats, sizeof(slurmctld_diag_stats)))
		return "size of slurmctld_diag_stats";
	if (dfrs_bits_wrong())
		return "layout of bitstr_t";
	return NULL;
}

bool dfrs_table_wrong(void)
{
	return wrong_in_globals() || (symbol_size(slurmctld_rpcs) % sizeof(slurmctld_rpcs[0]));
}

bool dfrs_jobs_wrong(void)
{
	check_t check = { 0 };

	if (job_list)
		(void) list_for_each_ro(job_list, check_job, &check);
	return check.wrong != NULL;
}

int dfrs_layout_check(char *message, size_t size)
{
	check_t check = { .wrong = wrong_in_globals() };
	node_record_t *node;

	if (message && size)
		message[0] = '\0';
	dfrs_lock_read();
	/* Nodes first: they are there before any job, and a job's check follows pointers. */
	for (int i = 0; !check.wrong && (node = next_node(&i)); i++)
		check.wrong = wrong_in_node(node, i);
	if (!check.wrong && part_list)
		(void) list_for_each_ro(part_list, check_partition, &check);
	/* Not in the walk: a look-up locks the list for writing in some versions. */
	if (!check.wrong && check.partition &&
	    (find_part_record(check.partition->name) != check.partition))
		check.wrong = "name of part_record_t";
	if (!check.wrong && job_list)
		(void) list_for_each_ro(job_list, check_job, &check);
	dfrs_unlock_read();
	if (!check.wrong)
		return SLURM_SUCCESS;
	if (message && size)
		snprintf(message, size,
			 "slurmctld's records are not those of Slurm %u.%02u.%u (%s differs): build the plugin from the source of the very version that runs",
			 SLURM_VERSION_MAJOR(SLURM_VERSION_NUMBER),
			 SLURM_VERSION_MINOR(SLURM_VERSION_NUMBER),
			 SLURM_VERSION_MICRO(SLURM_VERSION_NUMBER), check.wrong);
	return ESLURM_NOT_SUPPORTED;
}
