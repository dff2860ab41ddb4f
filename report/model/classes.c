/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Classing regions and locations.
 *
 * Limits: see classes.h.
 */
#include "config.h"

#include "report/model/classes.h"

#include "report/model/calls.h"
#include "report/model/filecalls.h"
#include "report/model/posix.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NAME(NAME, time, text) text,
const char *const gt_class_names[GT_CLASSES] = { GT_CLASS_LIST(NAME) };
#undef NAME
#define TIME(NAME, time, text) GT_TIME_##time,
const unsigned char gt_class_times[GT_CLASSES] = { GT_CLASS_LIST(TIME) };
#undef TIME
const char *const gt_time_names[GT_TIMES] = {
	"useful",    "MPI",	"waiting",  "waiting for a GPU", "I/O",
	"GPU calls", "runtime", "on a GPU", "measurement",	 "idle",
};

/* ---- regions ------------------------------------------------------------------------------------- */

static const unsigned char posix_classes[] = {
	[GT_POSIX_NONE] = GT_CLASSES,
	[GT_POSIX_CREATE] = GT_CLASS_THREAD_CREATE,
	[GT_POSIX_UNLOCK] = GT_CLASS_UNLOCK,
	[GT_POSIX_TRY] = GT_CLASS_UNLOCK,
	[GT_POSIX_YIELD] = GT_CLASS_UNLOCK,
	[GT_POSIX_JOIN] = GT_CLASS_THREAD_JOIN,
	[GT_POSIX_LOCK] = GT_CLASS_LOCK,
	[GT_POSIX_CONDITION] = GT_CLASS_CONDITION,
	[GT_POSIX_BARRIER] = GT_CLASS_BARRIER,
	[GT_POSIX_SLEEP] = GT_CLASS_SLEEP,
	[GT_POSIX_AWAIT] = GT_CLASS_SLEEP,
	[GT_POSIX_SEMAPHORE] = GT_CLASS_SEMAPHORE,
	[GT_POSIX_PROCESS] = GT_CLASS_PROCESS,
};

static const unsigned char call_classes[GT_CALLS] = {
	[GT_CALL_SETUP] = GT_CLASS_MPI_SETUP,
	[GT_CALL_SEND] = GT_CLASS_MPI_SEND,
	[GT_CALL_RECV] = GT_CLASS_MPI_RECV,
	[GT_CALL_SENDRECV] = GT_CLASS_MPI_SENDRECV,
	[GT_CALL_START] = GT_CLASS_MPI_START,
	[GT_CALL_WAIT] = GT_CLASS_MPI_WAIT,
	[GT_CALL_TEST] = GT_CLASS_MPI_TEST,
	[GT_CALL_BARRIER] = GT_CLASS_MPI_BARRIER,
	[GT_CALL_COLLECTIVE] = GT_CLASS_MPI_COLLECTIVE,
	[GT_CALL_RMA] = GT_CLASS_MPI_RMA,
	[GT_CALL_FILE] = GT_CLASS_MPI_IO,
	[GT_CALL_OTHER] = GT_CLASS_MPI_OTHER,
	[GT_CALL_LAUNCH] = GT_CLASS_GPU_LAUNCH,
	[GT_CALL_COPY] = GT_CLASS_GPU_COPY,
	[GT_CALL_DEVICE_WAIT] = GT_CLASS_GPU_WAIT,
	[GT_CALL_HIDDEN_WAIT] = GT_CLASS_GPU_HIDDEN_WAIT,
	[GT_CALL_DEVICE_POLL] = GT_CLASS_GPU_POLL,
	[GT_CALL_DEVICE_MEMORY] = GT_CLASS_GPU_MEMORY,
	[GT_CALL_DEVICE_IDLE] = GT_CLASS_GPU_IDLE,
	[GT_CALL_DEVICE_OTHER] = GT_CLASS_GPU_OTHER,
};

static bool begins(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

/* EZTrace's are the user's, without a line in the source. */
static bool is_mpi(const struct gt_otf2_region *region)
{
	const char *name = region->name + (*region->name == 'P' || *region->name == 'p');

	return !strncasecmp(name, "MPI_", 4) && region->paradigm != OTF2_PARADIGM_KOKKOS &&
	       (region->paradigm == OTF2_PARADIGM_MPI || region->role != OTF2_REGION_ROLE_FUNCTION ||
		region->paradigm == OTF2_PARADIGM_UNKNOWN || !*region->file ||
		(region->paradigm == OTF2_PARADIGM_USER && !region->begin_line));
}

/* A group's name (the description, or Score-P's "file" of what has none). */
static enum gt_class class_of_group(const char *group)
{
	if (begins(group, "NVTX") || begins(group, "ROCTX"))
		return GT_CLASS_NVTX;
	switch (gt_activity(group)) {
	case GT_ACTIVITY_KERNEL:
		return GT_CLASS_KERNEL;
	case GT_ACTIVITY_COPY:
		return GT_CLASS_GPU_TRANSFER;
	case GT_ACTIVITY_SET:
		return GT_CLASS_GPU_SET;
	default:
		return GT_CLASS_CODE;
	}
}

static enum gt_class class_of_cuda(const struct gt_otf2_region *region)
{
	enum gt_class class = class_of_group(region->description);

	if (class == GT_CLASS_CODE)
		class = class_of_group(region->file);
	return class != GT_CLASS_CODE ? class : call_classes[gt_device_call(region->name)];
}

static enum gt_class by_role(const struct gt_otf2_region *region)
{
	switch (region->role) {
	case OTF2_REGION_ROLE_THREAD_CREATE:
		return GT_CLASS_THREAD_CREATE;
	case OTF2_REGION_ROLE_THREAD_WAIT:
		return GT_CLASS_THREAD_JOIN;
	case OTF2_REGION_ROLE_BARRIER:
	case OTF2_REGION_ROLE_IMPLICIT_BARRIER:
	case OTF2_REGION_ROLE_TASK_WAIT:
		return GT_CLASS_BARRIER;
	case OTF2_REGION_ROLE_CRITICAL:
	case OTF2_REGION_ROLE_ORDERED:
		return GT_CLASS_LOCK;
	case OTF2_REGION_ROLE_TASK_CREATE:
		return region->paradigm == OTF2_PARADIGM_OPENMP ? GT_CLASS_TASK_CREATE : GT_CLASS_CODE;
	case OTF2_REGION_ROLE_FILE_IO:
	case OTF2_REGION_ROLE_FILE_IO_METADATA:
		return GT_CLASS_FILE_IO;
	case OTF2_REGION_ROLE_ALLOCATE:
	case OTF2_REGION_ROLE_DEALLOCATE:
	case OTF2_REGION_ROLE_REALLOCATE:
		return GT_CLASS_MEMORY;
	case OTF2_REGION_ROLE_COLL_ONE2ALL:
	case OTF2_REGION_ROLE_COLL_ALL2ONE:
	case OTF2_REGION_ROLE_COLL_ALL2ALL:
	case OTF2_REGION_ROLE_COLL_OTHER:
	case OTF2_REGION_ROLE_POINT2POINT:
	case OTF2_REGION_ROLE_RMA:
		return GT_CLASS_COMMUNICATION;
	default:
		return GT_CLASS_CODE;
	}
}

/* Of a call on files, which also may be of those that move no data. */
static enum gt_class of_file(enum gt_class class, const struct gt_otf2_region *region)
{
	if (class != GT_CLASS_FILE_IO)
		return class;
	switch (gt_file_call_of(region->name)) {
	case GT_FILE_CALL_OPEN:
	case GT_FILE_CALL_CLOSE:
	case GT_FILE_CALL_NAME:
		return GT_CLASS_FILE_META;
	default:
		return GT_CLASS_FILE_IO;
	}
}

static enum gt_class class_of_region(const struct gt_otf2_region *region)
{
	enum gt_class class;

	if (is_mpi(region))
		return call_classes[gt_message_call(region->name)];
	switch (region->paradigm) {
	case OTF2_PARADIGM_MEASUREMENT_SYSTEM:
		return GT_CLASS_MEASUREMENT;
	case OTF2_PARADIGM_CUDA:
	case OTF2_PARADIGM_HIP:
	case OTF2_PARADIGM_OPENCL:
		return class_of_cuda(region);
	case OTF2_PARADIGM_COMPILER:
	case OTF2_PARADIGM_USER:
		/* The program's own, whatever they are called. */
		return GT_CLASS_CODE;
	case OTF2_PARADIGM_KOKKOS: /* labels are the program's own, too */
		return by_role(region);
	default:
		break;
	}
	class = posix_classes[gt_posix_call(region->name)];
	return class < GT_CLASSES ? class : of_file(by_role(region), region);
}

/* ---- the same region, defined more than once ---------------------------------------------------- */

static int compare(const void *a, const void *b, void *read)
{
	const struct gt_otf2_region *x = gt_otf2_region_at(read, *(const uint32_t *)a);
	const struct gt_otf2_region *y = gt_otf2_region_at(read, *(const uint32_t *)b);
	int by = strcmp(x->name, y->name);

	by = by ? by : strcmp(x->canonical, y->canonical);
	by = by ? by : strcmp(x->file, y->file);
	by = by ? by : (x->begin_line > y->begin_line) - (x->begin_line < y->begin_line);
	by = by ? by : (x->role > y->role) - (x->role < y->role);
	return by ? by : (x->paradigm > y->paradigm) - (x->paradigm < y->paradigm);
}

static int compare_all(const void *a, const void *b, void *read)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int by = compare(a, b, read);

	return by ? by : (x > y) - (x < y);
}

static bool find_same(struct gt_classes *classes, size_t regions)
{
	uint32_t *order = malloc((regions + 1) * sizeof(*order));
	size_t first = 0;

	if (!order)
		return false;
	for (uint32_t i = 0; i < regions; i++)
		order[i] = i;
	qsort_r(order, regions, sizeof(*order), compare_all, (void *)classes->read);
	for (size_t i = 0; i < regions; i++) {
		if (compare(&order[first], &order[i], (void *)classes->read) ||
		    classes->regions[order[first]] != classes->regions[order[i]])
			first = i;
		classes->same[order[i]] = order[first];
	}
	free(order);
	return true;
}

/* ---- locations ----------------------------------------------------------------------------------- */

/* "MPI Rank 3": the convention of every producer. */
static uint32_t rank_of(const char *name)
{
	const char *digits = begins(name, "MPI Rank ") ? name + strlen("MPI Rank ") : NULL;
	char *end;
	unsigned long rank;

	if (!digits || *digits < '0' || *digits > '9')
		return GT_NO_RANK;
	rank = strtoul(digits, &end, 10);
	return rank < GT_NO_RANK ? (uint32_t)rank : GT_NO_RANK;
}

/* Finds locations that are in the archive only because communicators of others name them as members. */
static void find_missing(struct gt_classes *classes)
{
	const struct gt_otf2 *read = classes->read;

	for (size_t i = 0; i < read->tables[GT_OTF2_PROPERTY].count; i++) {
		const struct gt_otf2_property *p = gt_otf2_property_at(read, i);
		ptrdiff_t process = p->kind == GT_OTF2_LOCATION_GROUP && !strcmp(p->name, "GPUTRACE::MISSING")
				    ? gt_otf2_index(read, GT_OTF2_LOCATION_GROUP, p->owner) : -1;

		if (process >= 0)
			classes->processes[process].missing = true;
	}
}

/* By the list of all ranks' locations, where no process has such a name. */
static void rank_by_list(struct gt_classes *classes)
{
	const struct gt_otf2 *read = classes->read;
	const struct gt_otf2_group *list = NULL;

	for (size_t i = 0; i < read->tables[GT_OTF2_GROUP].count && !list; i++) {
		const struct gt_otf2_group *group = gt_otf2_group_at(read, i);

		if (group->type == OTF2_GROUP_TYPE_COMM_LOCATIONS && group->paradigm == OTF2_PARADIGM_MPI)
			list = group;
	}
	for (uint32_t rank = 0; list && rank < list->count; rank++) {
		const struct gt_otf2_location *location = gt_otf2_find_location(read, list->members[rank]);
		ptrdiff_t process = -1;

		if (location)
			process = gt_otf2_index(read, GT_OTF2_LOCATION_GROUP, location->group);
		if (process < 0 || classes->processes[process].rank != GT_NO_RANK)
			continue;
		classes->processes[process].rank = rank;
		classes->ranks++;
	}
}

/* Score-P's devices of AMD are called 0, 1 ... */
static const char *device_name(struct gt_classes *classes, const struct gt_otf2_node *node)
{
	char *name;

	if (node->name[strspn(node->name, "0123456789")] ||
	    asprintf(&name, "%s %s", node->class_name, node->name) < 0)
		return node->name;
	classes->devices[classes->device_count].made = name;
	return name;
}

static uint32_t device_of(struct gt_classes *classes, const struct gt_otf2_location_group *group)
{
	const struct gt_otf2_node *node = gt_otf2_find_node(classes->read, group->parent);
	bool own = node && strcmp(node->class_name, "node") && strcmp(node->class_name, "machine");
	uint64_t id = own ? node->id : GT_OTF2_NOTHING;

	for (uint32_t i = 0; i < classes->device_count; i++)
		if (own ? classes->devices[i].node == id : classes->devices[i].name == group->name)
			return i;
	classes->devices[classes->device_count].node = id;
	classes->devices[classes->device_count].name = own ? device_name(classes, node) : group->name;
	return classes->device_count++;
}

static void class_location(struct gt_classes *classes, uint32_t index)
{
	const struct gt_otf2 *read = classes->read;
	const struct gt_otf2_location *location = gt_otf2_location_at(read, index);
	const struct gt_otf2_location_group *group = gt_otf2_find_location_group(read, location->group);
	ptrdiff_t process = gt_otf2_index(read, GT_OTF2_LOCATION_GROUP, gt_otf2_process(read, location));
	struct gt_location_class *own = &classes->locations[index];

	*own = (struct gt_location_class){ GT_LOCATION_OTHER, process < 0 ? 0 : (uint32_t)process,
					   GT_NO_DEVICE };
	if (location->type == OTF2_LOCATION_TYPE_ACCELERATOR_STREAM) {
		own->kind = GT_LOCATION_STREAM;
		if (group)
			own->device = device_of(classes, group);
	} else if (location->type == OTF2_LOCATION_TYPE_CPU_THREAD && location->events) {
		own->kind = GT_LOCATION_THREAD;
		if (process >= 0 && classes->processes[process].main == GT_NO_DEVICE) {
			classes->processes[process].main = index;
			own->kind = GT_LOCATION_MAIN;
			classes->live++;
		}
	}
}

/* Locations that gputrace puts beside a process's threads (NVTX ranges, Kokkos sections) are not threads. */
static void class_aside(struct gt_classes *classes)
{
	for (size_t i = 0; i < classes->read->tables[GT_OTF2_PROPERTY].count; i++) {
		const struct gt_otf2_property *p = gt_otf2_property_at(classes->read, i);
		ptrdiff_t index = p->kind == GT_OTF2_LOCATION && !strcmp(p->name, "GPUTRACE::ASIDE")
				  ? gt_otf2_index(classes->read, GT_OTF2_LOCATION, p->owner) : -1;

		if (index >= 0 && classes->locations[index].kind == GT_LOCATION_THREAD)
			classes->locations[index].kind = GT_LOCATION_OTHER;
	}
}

/* Wrappers of gputrace for the C library are of the paradigm USER; their group says what they are. */
static enum gt_class class_of_member(enum gt_class class, const char *group)
{
	if (class_of_group(group) != GT_CLASS_CODE)
		return class_of_group(group);
	if (class != GT_CLASS_CODE)
		return class;
	return !strcmp(group, "io") ? GT_CLASS_FILE_IO : !strcmp(group, "memory") ? GT_CLASS_MEMORY : class;
}

static void class_groups(struct gt_classes *classes)
{
	for (size_t i = 0; i < classes->read->tables[GT_OTF2_GROUP].count; i++) {
		const struct gt_otf2_group *group = gt_otf2_group_at(classes->read, i);

		for (uint32_t m = 0; group->type == OTF2_GROUP_TYPE_REGIONS && m < group->count; m++) {
			ptrdiff_t region = gt_otf2_index(classes->read, GT_OTF2_REGION, group->members[m]);

			if (region < 0)
				continue;
			classes->groups[region] = group->name;
			classes->regions[region] = (unsigned char)of_file(
				class_of_member((enum gt_class)classes->regions[region], group->name),
				gt_otf2_region_at(classes->read, (size_t)region));
		}
	}
}

/* The process of that name, on the same host; NULL: there is none. */
static struct gt_process_class *parent_of(struct gt_classes *classes, const struct gt_process_class *process,
					  const char *name)
{
	for (uint32_t i = 0; name && i < classes->process_count; i++)
		if (!strcmp(classes->processes[i].group->name, name) &&
		    classes->processes[i].group->parent == process->group->parent)
			return &classes->processes[i];
	return NULL;
}

/* By what gputrace's archives say of the processes' parents. False: no memory. */
static bool find_launchers(struct gt_classes *classes)
{
	const char **parents = calloc((size_t)classes->process_count + 1, sizeof(*parents));
	bool found = parents != NULL;

	for (size_t i = 0; parents && i < classes->read->tables[GT_OTF2_PROPERTY].count; i++) {
		const struct gt_otf2_property *p = gt_otf2_property_at(classes->read, i);
		ptrdiff_t index = p->kind == GT_OTF2_LOCATION_GROUP && !strcmp(p->name, "GPUTRACE::PARENT")
				  ? gt_otf2_index(classes->read, GT_OTF2_LOCATION_GROUP, p->owner) : -1;

		if (index >= 0)
			parents[index] = p->text;
	}
	for (uint32_t i = 0; parents && i < classes->process_count; i++) {
		struct gt_process_class *process = &classes->processes[i];
		bool more = process->rank != GT_NO_RANK;

		/* Names may be used again, and go round: at most as far as there are processes. */
		for (uint32_t up = 0; more && up < classes->process_count; up++) {
			process = parent_of(classes, process, parents[process - classes->processes]);
			more = process && !process->launcher;
			if (more)
				process->launcher = process->rank == GT_NO_RANK;
		}
	}
	free(parents);
	return found;
}

int gt_classes_make(struct gt_classes *classes, const struct gt_otf2 *read)
{
	size_t regions = read->tables[GT_OTF2_REGION].count, locations = read->tables[GT_OTF2_LOCATION].count;
	size_t groups = read->tables[GT_OTF2_LOCATION_GROUP].count;

	*classes = (struct gt_classes){
		.read = read,
		.regions = calloc(regions + 1, 1),
		.groups = calloc(regions + 1, sizeof(*classes->groups)),
		.same = calloc(regions + 1, sizeof(*classes->same)),
		.locations = calloc(locations + 1, sizeof(*classes->locations)),
		.processes = calloc(groups + 1, sizeof(*classes->processes)),
		.process_count = (uint32_t)groups,
		.devices = calloc(locations + 1, sizeof(*classes->devices)),
	};
	if (!classes->regions || !classes->groups || !classes->same || !classes->locations ||
	    !classes->processes || !classes->devices) {
		gt_classes_free(classes);
		return -ENOMEM;
	}
	for (size_t i = 0; i < regions; i++) {
		classes->regions[i] = (unsigned char)class_of_region(gt_otf2_region_at(read, i));
		classes->mpi |= gt_class_times[classes->regions[i]] == GT_TIME_MPI;
		classes->all_locks |= classes->regions[i] == GT_CLASS_UNLOCK &&
				      gt_otf2_region_at(read, i)->paradigm != OTF2_PARADIGM_SAMPLING &&
				      strstr(gt_otf2_region_at(read, i)->name, "unlock");
	}
	class_groups(classes);
	if (!find_same(classes, regions)) {
		gt_classes_free(classes);
		return -ENOMEM;
	}
	for (size_t i = 0; i < groups; i++) {
		const struct gt_otf2_location_group *group = gt_otf2_location_group_at(read, i);

		classes->processes[i] =
			(struct gt_process_class){ group, rank_of(group->name), GT_NO_DEVICE, false, false };
	}
	find_missing(classes);
	for (size_t i = 0; i < groups; i++)
		classes->ranks += classes->processes[i].rank != GT_NO_RANK && !classes->processes[i].missing;
	if (classes->mpi && !classes->ranks)
		rank_by_list(classes);
	if (!find_launchers(classes)) {
		gt_classes_free(classes);
		return -ENOMEM;
	}
	for (size_t i = 0; i < locations; i++)
		class_location(classes, (uint32_t)i);
	class_aside(classes);
	classes->gpu = classes->device_count > 0;
	return 0;
}

void gt_classes_free(struct gt_classes *classes)
{
	free(classes->regions);
	free(classes->groups);
	free(classes->same);
	free(classes->locations);
	free(classes->processes);
	for (uint32_t i = 0; i < classes->device_count; i++)
		free(classes->devices[i].made);
	free(classes->devices);
	*classes = (struct gt_classes){0};
}
