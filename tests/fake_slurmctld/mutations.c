/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mutations.c - a cluster of any size, and changes of it. Records of jobs are made and freed, and ids used
 * again, as slurmctld does.
 */
#include "mutations.h"

#include "internal.h"

#include <stdio.h>

time_t wall_clock = 1000000;
int64_t monotonic_nanoseconds;
bool cores_are_visible, labels_select, has_switches;
uint64_t allocated_memory[4096];

static uint64_t random_state = 88172645463325252u;

/* --- the world around the shim ------------------------------------------------------------------------ */

time_t time(time_t *out)
{
	if (out)
		*out = wall_clock;
	return wall_clock;
}

int clock_gettime(clockid_t clock, struct timespec *out)
{
	out->tv_sec = monotonic_nanoseconds / 1000000000;
	out->tv_nsec = monotonic_nanoseconds % 1000000000;
	return 0;
}

int nanosleep(const struct timespec *time, struct timespec *left)
{
	count_call("nanosleep");
	monotonic_nanoseconds += time->tv_sec * 1000000000LL + time->tv_nsec;
	return 0;
}

int slurm_mcs_get_select(job_record_t *job)
{
	return labels_select;
}

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 11, 0)
int topology_g_get_node_addr(char *node, char **address, char **pattern)
#else
int slurm_topo_get_node_addr(char *node, char **address, char **pattern)
#endif
{
	count_call("get_node_addr");
	if (has_switches)
		*address = xstrdup_printf("root.rack%d.s1.%s", atoi(node + 1) / 2, node);
	else
		*address = xstrdup(node);
	*pattern = xstrdup(has_switches ? "switch.switch.node" : "node");
	return SLURM_SUCCESS;
}

uint32_t below(uint32_t end)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t) (random_state >> 32) % end;
}

/* --- nodes and partitions ------------------------------------------------------------------------------- */

static part_record_t *add_partition(const char *name, int first, int step)
{
	part_record_t *partition = xmalloc(sizeof(*partition));

	partition->magic = PART_MAGIC;
	partition->name = xstrdup(name);
	partition->default_time = partition->max_time = 60;
	partition->node_bitmap = bit_alloc(node_record_count);
	for (int i = first; i < node_record_count; i += step)
		bit_set(partition->node_bitmap, i);
	list_append(part_list, partition);
	return partition;
}

static void add_feature(const char *name, int step)
{
	node_feature_t *feature = xmalloc(sizeof(*feature));

	feature->name = xstrdup(name);
	feature->node_bitmap = bit_alloc(node_record_count);
	for (int i = 0; i < node_record_count; i += step)
		bit_set(feature->node_bitmap, i);
	list_append(active_feature_list, feature);
}

/* Of every other node, beginning with this one. */
static void add_configuration(int first)
{
	config_record_t *configuration = xmalloc(sizeof(*configuration));

	configuration->magic = CONFIG_MAGIC;
	configuration->node_bitmap = bit_alloc(node_record_count);
	for (int i = first; i < node_record_count; i += 2)
		bit_set(configuration->node_bitmap, i);
	list_append(config_list, configuration);
}

void make_nodes(int count)
{
	node_record_count = count;
	node_record_table_ptr = xcalloc(count, sizeof(*node_record_table_ptr));
	for (int i = 0; i < count; i++) {
		node_record_t *node = xmalloc(sizeof(*node));

		node->magic = NODE_MAGIC;
		node->index = i;
		node->name = xstrdup_printf("n%d", i);
		node->cpus = node->cpus_efctv = 32;
		node->real_memory = 128000;
		node->tot_cores = 32;
		node->node_state = NODE_STATE_IDLE;
		node_record_table_ptr[i] = node;
	}
	up_node_bitmap = bit_alloc(count);
	bit_set_all(up_node_bitmap);
	avail_node_bitmap = bit_copy(up_node_bitmap);
	job_list = list_create(NULL);
	part_list = list_create(NULL);
	resv_list = list_create(NULL);
	active_feature_list = list_create(NULL);
	config_list = list_create(NULL);
	for (int i = 0; i < 2; i++)
		add_configuration(i);
	add_partition("dfrs", 0, 1);
	add_partition("dfrs2", 0, 2);
	add_partition("other", 1, 3);
	add_feature("fast", 2);
	add_feature("large", 3);
}

static part_record_t *some_partition(void)
{
	static const char *names[] = { "dfrs", "dfrs", "dfrs", "dfrs2", "other" };

	return find_part_record((char *) names[below(5)]);
}

static bitstr_t *some_nodes(void)
{
	bitstr_t *nodes = bit_alloc(node_record_count);

	for (uint32_t i = 1 + below(5); i; i--)
		bit_set(nodes, below(node_record_count));
	return nodes;
}

/* --- jobs ------------------------------------------------------------------------------------------------ */

job_record_t *new_job(uint32_t job_id)
{
	job_record_t *job = xmalloc(sizeof(*job));

	job->magic = JOB_MAGIC;
	job->part_ptr = find_part_record("dfrs");
	job->priority = 1;
	job->array_task_id = NO_VAL;
	job->time_limit = 30;
	job->batch_flag = 1;
	job->job_state = JOB_PENDING;
	job->step_list = list_create(xfree_ptr);
	job->details = xmalloc(sizeof(*job->details));
	job->details->magic = DETAILS_MAGIC;
	job->details->num_tasks = job->details->min_nodes = 1;
	job->details->cpus_per_task = 1;
	job->details->max_nodes = NO_VAL;
	job->details->pn_min_memory = 1000;
	job->details->submit_time = wall_clock;
	add_job(job, job_id);
	return job;
}

static void free_devices(void *record)
{
	gres_state_t *state = record;

	xfree(state->gres_data);
	xfree(state);
}

dfrs_list_t add_devices(dfrs_list_t list, const char *name, void *data)
{
	gres_state_t *state = xmalloc(sizeof(*state));

	state->gres_name = (char *) name;
	state->plugin_id = (uint8_t) name[0];
	state->gres_data = data;
	if (!list)
		list = list_create(free_devices);
	list_append(list, state);
	return list;
}

static void free_resources(job_record_t *job)
{
	if (job->job_resrcs) {
		FREE_NULL_BITMAP(job->job_resrcs->node_bitmap);
		FREE_NULL_BITMAP(job->job_resrcs->core_bitmap);
		xfree(job->job_resrcs->cpus);
		xfree(job->job_resrcs->memory_allocated);
		xfree(job->job_resrcs);
	}
	FREE_NULL_BITMAP(job->node_bitmap_cg);
}

static void free_job(job_record_t *job)
{
	remove_job(job);
	free_resources(job);
	if (job->details) {
		FREE_NULL_BITMAP(job->details->exc_node_bitmap);
		FREE_NULL_BITMAP(job->details->req_node_bitmap);
		FREE_NULL_LIST(job->details->feature_list);
		FREE_NULL_LIST(job->details->prefer_list);
		xfree(job->details->features);
		xfree(job->details->prefer);
		xfree(job->details->mc_ptr);
	}
	xfree(job->details);
	xfree(job->mcs_label);
	FREE_NULL_LIST(job->step_list);
	FREE_NULL_LIST(job->gres_list_req);
	FREE_NULL_LIST(job->part_ptr_list);
	xfree(job->comment);
	xfree(job);
}

void run_job(job_record_t *job, int first, int hosts)
{
	job_resources_t *resources = xmalloc(sizeof(*resources));

	free_resources(job);
	resources->nhosts = hosts;
	resources->node_bitmap = bit_alloc(node_record_count);
	resources->core_bitmap = bit_alloc(hosts * 32);
	resources->cpus = xcalloc(hosts, sizeof(*resources->cpus));
	resources->memory_allocated = xcalloc(hosts, sizeof(*resources->memory_allocated));
	for (int i = 0; i < hosts; i++) {
		bit_set(resources->node_bitmap, (first + i) % node_record_count);
		resources->cpus[i] = 1 + i % 4;
		resources->memory_allocated[i] = 1000;
	}
	job->job_resrcs = resources;
	job->job_state = JOB_RUNNING;
	job->start_time = wall_clock;
	job->end_time = wall_clock + 1800;
}

void exclude_node(job_record_t *job, int node)
{
	job->details->exc_node_bitmap = bit_alloc(node_record_count);
	bit_set(job->details->exc_node_bitmap, node);
}

/* --- changes of jobs ----------------------------------------------------------------------------------- */

static void end_job(job_record_t *job)
{
	job->job_state = JOB_COMPLETE;
	if (!below(3) || !job->job_resrcs)
		return;
	job->job_state |= JOB_COMPLETING;
	FREE_NULL_BITMAP(job->node_bitmap_cg);
	job->node_bitmap_cg = bit_copy(job->job_resrcs->node_bitmap);
}

static void begin_step(job_record_t *job)
{
	step_record_t *step = xmalloc(sizeof(*step));

	step->start_time = wall_clock;
	list_append(job->step_list, step);
}

void set_features(char **text, dfrs_list_t *list)
{
	const char *names[] = { "fast", "large", "none" };
	job_feature_t *feature = xmalloc(sizeof(*feature));

	FREE_NULL_LIST(*list);
	xfree(*text);
	feature->name = xstrdup(names[below(3)]);
	feature->op_code = FEATURE_OP_END;
	feature->paren = !below(6);
	*text = xstrdup_printf(feature->paren ? "(%s)" : "%s", feature->name);
	*list = list_create(NULL);
	list_append(*list, feature);
}

static void wait_in_several(job_record_t *job)
{
	FREE_NULL_LIST(job->part_ptr_list);
	job->part_ptr_list = list_create(NULL);
	for (int i = 0; i < 2; i++)
		list_append(job->part_ptr_list, some_partition());
}

static void edit_resources(job_record_t *job)
{
	job_resources_t *resources = job->job_resrcs;
	uint32_t host;

	if (!resources)
		return;
	host = below(resources->nhosts);
	if (below(3))
		resources->memory_allocated[host] = below(2) * 1000;
	else
		resources->cpus[host] = below(3);
	if (job->node_bitmap_cg)
		bit_clear(job->node_bitmap_cg, below(node_record_count));
}

static void edit_parts(dfrs_details_t *details)
{
	xfree(details->mc_ptr);
	if (!below(3))
		return;
	details->mc_ptr = xmalloc(sizeof(*details->mc_ptr));
	details->mc_ptr->sockets_per_node = below(2) ? NO_VAL16 : below(4);
	details->mc_ptr->cores_per_socket = below(2) ? NO_VAL16 : below(4);
	details->mc_ptr->threads_per_core = below(2) ? NO_VAL16 : below(4);
	details->mc_ptr->ntasks_per_core = below(2) ? INFINITE16 : below(3);
}

static void edit_devices_of_job(job_record_t *job)
{
	gres_job_state_t *asked = xmalloc(sizeof(*asked));

	FREE_NULL_LIST(job->gres_list_req);
	asked->type_name = below(2) ? "large" : NULL;
	asked->gres_per_node = below(3);
	asked->gres_per_job = below(3);
	asked->mem_per_gres = below(2) * 100;
	job->gres_list_req = add_devices(NULL, below(2) ? "gpu" : "nic", asked);
}

static void edit_devices_of_node(node_record_t *node)
{
	gres_node_state_t *has = xmalloc(sizeof(*has));

	FREE_NULL_LIST(node->gres_list);
	has->gres_cnt_avail = below(5);
	has->gres_cnt_alloc = below(3);
	if (below(3))
		node->gres_list = add_devices(NULL, below(2) ? "gpu" : "nic", has);
	else
		xfree(has);
}

static void edit_request(job_record_t *job)
{
	dfrs_details_t *details = job->details;

	switch (below(19)) {
	case 0: details->num_tasks = below(5); break;
	case 1: details->cpus_per_task = below(5); break;
	case 2: details->ntasks_per_node = below(3); break;
	case 3: details->min_nodes = below(4); break;
	case 4: details->max_nodes = below(2) ? NO_VAL : below(4); break;
	case 5: details->pn_min_memory = below(3) * 1000; break;
	case 6: details->pn_min_memory ^= MEM_PER_CPU; break;
	case 7: details->contiguous ^= 1; break;
	case 8: details->whole_node ^= 1; break;
	case 9: set_features(&details->features, &details->feature_list); break;
	case 10:
		FREE_NULL_BITMAP(details->exc_node_bitmap);
		details->exc_node_bitmap = below(3) ? some_nodes() : NULL;
		break;
	case 11:
		FREE_NULL_BITMAP(details->req_node_bitmap);
		details->req_node_bitmap = below(3) ? some_nodes() : NULL;
		break;
	case 12: details->pn_min_tmp_disk = below(3) * 100; break;
	case 13: details->pn_min_cpus = below(5); break;
	case 14: edit_parts(details); break;
	case 15:
		xfree(job->mcs_label);
		job->mcs_label = below(3) ? xstrdup_printf("label%u", below(3)) : NULL;
		break;
	case 16: edit_devices_of_job(job); break;
	case 17: job->req_switch = below(3); break;
	case 18: set_features(&details->prefer, &details->prefer_list); break;
	}
}

static void edit_state(job_record_t *job)
{
	switch (below(10)) {
	case 0: run_job(job, below(node_record_count), 1 + below(4)); break;
	case 1: job->job_state = job->job_resrcs ? JOB_SUSPENDED : JOB_PENDING; break;
	case 2: job->job_state ^= JOB_CONFIGURING; break;
	case 3: end_job(job); break;
	case 4: free_job(job); break;
	case 5:
		job->job_state = JOB_PENDING;
		job->restart_cnt++;
		job->details->submit_time = wall_clock;
		break;
	case 6: begin_step(job); break;
	case 7: xfree_ptr(list_pop(job->step_list)); break;
	case 8: job->details->prolog_running ^= 1; break;
	case 9: job->state_reason = below(2) ? WAIT_PROLOG : WAIT_NO_REASON; break;
	}
}

static void edit_job(job_record_t *job)
{
	switch (below(14)) {
	case 0: job->priority = below(3); break;
	case 1: job->time_limit = below(4) ? below(90) : (below(2) ? NO_VAL : INFINITE); break;
	case 2: job->end_time += 60; break;
	case 3:
		xfree(job->comment);
		job->comment = below(3) ? xstrdup_printf("dfrs:%u", below(1000)) : NULL;
		break;
	case 4: job->part_ptr = some_partition(); break;
	case 5: wait_in_several(job); break;
	case 6: job->warn_time = below(100); break;
	case 7: job->resv_ptr = list_peek(resv_list); break;
	case 8:
	case 9: edit_resources(job); break;
	case 10: edit_request(job); break;
	case 11: edit_state(job); break;
	case 12: job->warn_flags ^= WARN_SENT; break;
	case 13: job->het_job_id ^= 1; break;
	}
}

/* --- changes of everything else ---------------------------------------------------------------------- */

static int forget_reservation(void *record, void *argument)
{
	job_record_t *job = record;

	if (job->resv_ptr == argument)
		job->resv_ptr = NULL;
	return 0;
}

/* Some, or all, of each. */
static bitstr_t *cores_of(const bitstr_t *nodes)
{
	bitstr_t *cores = bit_alloc(32 * node_record_count);

	for (int i = 0; i < node_record_count; i++)
		if (bit_test((bitstr_t *) nodes, i))
			bit_nset(cores, 32 * i, 32 * i + (below(2) ? 31 : 28));
	return cores;
}

static void edit_reservations(void)
{
	static uint32_t last_id;
	slurmctld_resv_t *reservation;

	if (below(2) && list_count(resv_list)) {
		reservation = list_pop(resv_list);
		(void) list_for_each(job_list, forget_reservation, reservation);
		FREE_NULL_BITMAP(reservation->node_bitmap);
		FREE_NULL_BITMAP(reservation->core_bitmap);
		xfree(reservation);
		return;
	}
	reservation = xmalloc(sizeof(*reservation));
	reservation->resv_id = ++last_id;
	reservation->start_time = wall_clock + below(7200) - 1800;
	reservation->end_time = reservation->start_time + below(7200);
	reservation->duration = below(2) ? NO_VAL : below(60);
	if (!below(4)) {
		reservation->flags = RESERVE_FLAG_TIME_FLOAT;
		reservation->start_time = below(7200);
	}
	reservation->node_bitmap = some_nodes();
	reservation->ctld_flags = below(3) ? RESV_CTLD_FULL_NODE : 0;
	if (!reservation->ctld_flags && below(4))
		reservation->core_bitmap = cores_of(reservation->node_bitmap);
	list_append(resv_list, reservation);
}

static void flip(bitstr_t *bits, uint32_t bit)
{
	if (bit_test(bits, bit))
		bit_clear(bits, bit);
	else
		bit_set(bits, bit);
}

static void edit_configurations(void)
{
	config_record_t *configuration = list_pop(config_list);

	list_append(config_list, configuration);
	switch (below(6)) {
	case 0: configuration->cpus = below(4); break;
	case 1: configuration->tmp_disk = below(3) * 100; break;
	case 2: configuration->tot_sockets = below(4); break;
	case 3: configuration->cores = below(4); break;
	case 4: configuration->threads = below(4); break;
	case 5: flip(configuration->node_bitmap, below(node_record_count)); break;
	}
}

static void edit_cluster(void)
{
	uint32_t node = below(node_record_count);
	node_record_t *record = node_record_table_ptr[node];

	switch (below(13)) {
	case 0: allocated_memory[node] = below(3) * 1000; break;
	case 1: flip(avail_node_bitmap, node); break;
	case 2: flip(up_node_bitmap, node); break;
	case 3: flip(some_partition()->node_bitmap, node); break;
	case 4: flip(((node_feature_t *) list_peek(active_feature_list))->node_bitmap, node); break;
	case 5: edit_reservations(); break;
	case 6: wall_clock += below(2) ? 1 : below(3600); break;
	case 7:
		xfree(record->name);
		record->name = xstrdup_printf("m%u", below(1000));
		break;
	case 8: edit_configurations(); break;
	case 9: some_partition()->max_cpus_per_node = below(3) ? below(40) : INFINITE; break;
	case 10: record->tpc = below(4); break;
	case 11: edit_devices_of_node(record); break;
	case 12:
		record->config_ptr = list_peek(config_list);
		record->config_ptr->weight = below(4);
		break;
	}
}

void mutate_anything(uint32_t max_jobs)
{
	uint32_t job_id = 1 + below(max_jobs);
	job_record_t *job = find_job_record(job_id);

	if (!below(8))
		edit_cluster();
	else if (job)
		edit_job(job);
	else
		new_job(job_id);
}
