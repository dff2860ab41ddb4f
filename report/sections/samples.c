/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Samples of call stacks: the processor time that each function and each source line took by itself, by what
 * samples stand for (model/stacks.h). So that all rows add up to the processor time of the run, two kinds of
 * rows have the rest: what the processes of a program used without a sample, most of them too short for one,
 * and what no process says of itself, such as programs that are not recorded.
 *
 * Limits: what processes have used that nobody waited for hides as much of what no process says of itself.
 * Sampled regions are no calls: they have no count and no inclusive time, and no wait is known by them.
 * Functions of one name in different objects are told apart where the archive has them. Of threads that
 * findings ask for each sample is kept, 24 bytes: beyond 128 MiB in a temporary file.
 */
#include "config.h"
#include "report/sections/samples.h"

#include "lib/assemble/report/summary.h"
#include "lib/assemble/util/memory.h"
#include "lib/assemble/util/shorten.h"
#include "lib/common/text.h"
#include "report/model/posix.h"
#include "report/model/rules.h"
#include "report/sections/lacking.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SEEN 90 /* percent of a thread's processor time that its samples must have */
#define COST_MOST UINT64_C(1000000000) /* ns of one sample: more is damaged */

/* ---- reading ------------------------------------------------------------------------------------- */

struct sampling {
	struct gt_stack_sums samples;
	struct gt_stack_ids stacks;
	struct gt_log moments;
	struct gt_stack_sums *all; /* if it keeps moments */
};

static bool wanted(struct gt_report *report)
{
	return report->read->tables[GT_OTF2_CONTEXT].count != 0 || gt_samples_tried(report);
}

/* Findings ask for those of ranks' first threads and, if a process uses a GPU, of all its threads. */
static bool *asked_for(const struct gt_report *report)
{
	const struct gt_classes *classes = &report->classes;
	size_t count = report->read->tables[GT_OTF2_LOCATION].count;
	bool *uses = gt_zeroed((size_t)classes->process_count + 1, sizeof(*uses));
	bool *asked = gt_zeroed(count + 1, sizeof(*asked));

	for (size_t i = 0; i < count; i++)
		if (classes->locations[i].device != GT_NO_DEVICE &&
		    classes->locations[i].process < classes->process_count)
			uses[classes->locations[i].process] = true;
	for (size_t i = 0; i < count; i++) {
		uint32_t process = classes->locations[i].process;

		if (process < classes->process_count)
			asked[i] = uses[process] || (classes->processes[process].main == i &&
						     classes->processes[process].rank != GT_NO_RANK);
	}
	free(uses);
	return asked;
}

/* GPUs and ranks wait for what others do (meanwhile.c). */
static void prepare(struct gt_report *report, void *result)
{
	struct gt_stack_sums *all = result;

	if (gt_samples_tried(report) && !gt_otf2_find_owned(report->read, GT_OTF2_KINDS, GT_OTF2_NOTHING,
							    GT_PROPERTY "SLICE_TIME"))
		all->by_process = gt_zeroed((size_t)report->classes.process_count + 1,
					    sizeof(*all->by_process));
	all->places = gt_zeroed(report->read->tables[GT_OTF2_LOCATION].count + 1, sizeof(*all->places));
	all->objects = gt_stack_objects_of(report->read);
	if (!gt_report_shows(report, "findings") ||
	    !(report->classes.device_count || report->classes.ranks > 1))
		return;
	all->asked = asked_for(report);
	all->location_count = (uint32_t)report->read->tables[GT_OTF2_LOCATION].count;
	all->moments = gt_zeroed((size_t)all->location_count + 1, sizeof(*all->moments));
	gt_spill_open(&all->spill);
}

static void keep_moment(struct sampling *state, uint64_t time, const struct gt_stack_sample *sample,
			uint32_t context)
{
	struct gt_stack_moment *moment = gt_log_add(&state->all->spill, &state->moments);

	moment->time = time;
	moment->ns = sample->ns;
	moment->context = context;
	moment->ours = sample->ours;
}

static void begin(struct gt_report *report, struct gt_otf2_cursor *at, void *memory)
{
	struct gt_stack_sums *all = gt_report_result(report, &gt_samples_analysis);
	struct sampling *state = memory;

	state->stacks = gt_stacks_of(report->read);
	state->moments.size = sizeof(struct gt_stack_moment);
	state->all = all->moments && all->asked[at->index] ? all : NULL;
}

static void event(struct gt_report *report, struct gt_otf2_cursor *at, const struct gt_otf2_event *event,
		  void *memory)
{
	struct sampling *state = memory;
	struct gt_stack_sample sample;
	size_t context;

	if (event->type != GT_OTF2_CallingContextSample)
		return;
	sample = gt_stack_sample_of(&state->stacks, at, &event->CallingContextSample);
	context = sample.context ? (size_t)(sample.context - gt_otf2_context_at(report->read, 0)) + 1 : 0;
	gt_sum_add(gt_sums_at(&state->samples.sums, context,
			      at->depth ? (uint32_t)at->stack[at->depth - 1].user : 0, sample.ours, 0),
		   sample.ns, sample.known);
	if (state->all)
		keep_moment(state, at->time, &sample, (uint32_t)context);
}

static void carry(struct gt_report *report, struct gt_carry *carry, void *memory)
{
	struct gt_stack_sums *all = gt_report_result(report, &gt_samples_analysis);
	struct sampling *state = memory;

	gt_carry_sums(carry, &state->samples.sums);
	gt_log_carry(&all->spill, carry, &state->moments, sizeof(struct gt_stack_moment));
}

/* The innermost open call's node of the location's own tree, or 0. */
static uint64_t open_at(const struct gt_profile_location *location, const struct gt_sum *one)
{
	return one->key[1] < location->node_count ? one->key[1] : 0;
}

/* By such nodes: ns of the samples in them. */
static uint64_t *sampled_by_node(const struct gt_profile_location *location, const struct gt_sums *sums)
{
	uint64_t *ns = gt_zeroed((size_t)location->node_count + 1, sizeof(*ns));

	for (uint32_t i = 0; i < sums->count; i++)
		ns[open_at(location, &sums->items[i])] += sums->items[i].ns;
	return ns;
}

/* The cost of one sample's signal (ns), as measured by `gputrace run`; 0: not measured. */
static uint64_t cost_of(const struct gt_otf2 *read, uint64_t process)
{
	const struct gt_otf2_property *p =
		gt_otf2_find_owned(read, GT_OTF2_LOCATION_GROUP, process, GT_PROPERTY "SAMPLING_COST");
	uint64_t ns = p && p->text ? strtoull(p->text, NULL, 10) : 0;

	return ns < COST_MOST ? ns : 0;
}

/* Samples in gputrace itself have what the handlers took beside their signals. */
static void add_cost(struct gt_stack_sums *all, const struct gt_sum *one, uint64_t each)
{
	all->count += one->count;
	all->cost_ns += each ? one->count * each : 0;
	all->uncosted += each ? 0 : one->count;
	all->own_ns += one->key[2] ? one->ns : 0;
}

bool gt_samples_waits(const struct gt_profile_location *location, enum gt_class class)
{
	return gt_class_spins(class) &&
	       location->classes[class] / GT_LEAST_WAIT >= location->class_calls[class];
}

bool gt_samples_runtime(const struct gt_report *report, uint64_t region)
{
	enum gt_time time;

	if (region >= report->read->tables[GT_OTF2_REGION].count)
		return false;
	time = (enum gt_time)gt_class_times[report->classes.regions[region]];
	return time == GT_TIME_MPI || time == GT_TIME_DEVICE ||
	       gt_otf2_region_at(report->read, region)->paradigm == OTF2_PARADIGM_OPENMP;
}

/* A program may have functions of such names itself. */
static bool in_libc(const struct gt_stack_objects *objects, ptrdiff_t region)
{
	static const char *const begins[] = { "libc.so", "libc-2.", "libpthread", "libc.musl-", "ld-musl-" };
	const char *path = region < 0 || !objects->of[region] ? "" : objects->names[objects->of[region] - 1];
	const char *file = strrchr(path, '/');

	file = file ? file + 1 : path;
	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (!strncmp(file, begins[i], strlen(begins[i])))
			return true;
	return false;
}

/*
 * Of a sample in no recorded wait: the innermost function, or its caller, that yields the processor; else
 * their number. The C library's other functions need not wait, not even if they are called again and again.
 */
static uint64_t yields(const struct gt_report *report, const struct gt_stack_objects *objects,
		       const struct gt_otf2_context *context)
{
	for (unsigned i = 0; context && i < 2; i++, context = gt_otf2_caller(report->read, context)) {
		uint64_t function = gt_samples_function(report, context);

		if (in_libc(objects, gt_otf2_index(report->read, GT_OTF2_REGION, context->region)) &&
		    gt_posix_sampled(gt_samples_name(report, function)) == GT_POSIX_YIELD)
			return function;
	}
	return report->read->tables[GT_OTF2_REGION].count;
}

/* node: of the whole call tree, 0 if no call is open. */
static void add_waiting(const struct gt_report *report, struct gt_stack_sums *all, uint32_t location,
			uint64_t node, const struct gt_sum *one)
{
	const struct gt_profile *profile = gt_report_result(report, &gt_profile_analysis);
	uint64_t none = report->read->tables[GT_OTF2_REGION].count,
		 region = node ? profile->tree.nodes[node].region : none;
	enum gt_class class = region < none ? (enum gt_class)report->classes.regions[region] : GT_CLASS_CODE;
	enum gt_time time = (enum gt_time)gt_class_times[class];
	bool runtime = time == GT_TIME_MPI || time == GT_TIME_DEVICE || time == GT_TIME_GPU_CALL;

	if (one->key[2])
		return;
	if (!gt_samples_waits(&profile->locations[location], class))
		region = runtime || !one->key[0] ? none : yields(report, &all->objects,
							gt_otf2_context_at(report->read, one->key[0] - 1));
	if (region < none)
		gt_sum_join(gt_sums_at(&all->waiting, location, region, one->key[0],
				       gt_samples_runtime(report, region)), one);
}

/* Nodes of the location's call tree become those of the whole one, which lacks those of service threads. */
static void merge(struct gt_report *report, struct gt_otf2_cursor *at, void *memory, void *result)
{
	const struct gt_profile *profile = gt_report_result(report, &gt_profile_analysis);
	const struct gt_profile_location *location = &profile->locations[at->index];
	bool aside = report->classes.locations[at->index].kind == GT_LOCATION_SERVICE;
	struct gt_sums *sums = &((struct sampling *)memory)->samples.sums;
	struct gt_stack_sums *all = result;
	uint64_t each = sums->count ? cost_of(report->read, at->location->group) : 0;
	uint64_t *ns = sampled_by_node(location, sums);
	uint32_t process = report->classes.locations[at->index].process;

	for (uint32_t i = 0; i < sums->count; i++) {
		struct gt_sum one = sums->items[i];
		uint64_t open = open_at(location, &one);
		uint64_t node = aside ? GT_SAMPLES_ASIDE : gt_profile_node_at(profile, at->index, open);

		gt_sum_join(gt_sums_at(&all->sums, one.key[0], node, one.key[2], 0), &one);
		add_cost(all, &one, each);
		if (all->by_process && process < report->classes.process_count)
			all->by_process[process] += one.ns;
		if (!aside)
			add_waiting(report, all, (uint32_t)at->index, node, &one);
		all->places[at->index].count += one.count;
		all->places[at->index].all += one.ns;
		all->places[at->index].outside += open ? 0 : one.ns;
		if (open)
			one.ns = (uint64_t)((double)one.ns * gt_stack_part(location->own[open], ns[open]));
		gt_sum_join(gt_sums_at(&all->divided, one.key[0], node, one.key[2], 0), &one);
	}
	free(ns);
	gt_sums_free(sums);
	if (!all->moments)
		return;
	all->moments[at->index] = ((struct sampling *)memory)->moments;
	gt_log_end(&all->spill, &all->moments[at->index]);
}

const struct gt_stack_sums *gt_samples_of(const struct gt_report *report)
{
	const struct gt_stack_sums *all = report ? gt_report_result(report, &gt_samples_analysis) : NULL;

	return all && all->count ? all : NULL;
}

uint64_t gt_samples_outside(const struct gt_report *report, size_t location, uint64_t running)
{
	const struct gt_stack_sums *all = gt_samples_of(report);

	if (!all || all->places[location].count < GT_SAMPLES_FEW ||
	    !gt_at_least(all->places[location].all, MOST_SEEN, running))
		return GT_NO_COUNT;
	return all->places[location].outside;
}

/* ---- functions ----------------------------------------------------------------------------------- */

/* What a row is of: keys of sums. */
enum { FUNCTION, OBJECT, SOURCE };

uint64_t gt_samples_ourselves(const struct gt_report *report)
{
	return report->read->tables[GT_OTF2_REGION].count + 1;
}

uint64_t gt_samples_function(const struct gt_report *report, const struct gt_otf2_context *context)
{
	ptrdiff_t region = gt_otf2_index(report->read, GT_OTF2_REGION, context->region);

	return region < 0 ? gt_samples_ourselves(report) - 1 : report->classes.same[region];
}

/* Rows without samples: of a process, and of none. */
static uint64_t unsampled(const struct gt_report *report)
{
	return gt_samples_ourselves(report) + 1;
}

static uint64_t unrecorded(const struct gt_report *report)
{
	return gt_samples_ourselves(report) + 2;
}

const char *gt_samples_name(const struct gt_report *report, uint64_t function)
{
	return function == gt_samples_ourselves(report) ? gt_stacks_ours.name
	       : function == unsampled(report)          ? "[no sample]"
	       : function == unrecorded(report)         ? "[not recorded]"
							: gt_report_region_name(report, function);
}

/* Sums by function and object and, if `lines`, by source location (1 + its index; 0: not known). */
static struct gt_sums sum_up(const struct gt_report *report, const struct gt_stack_sums *all,
			     const struct gt_stack_objects *objects, bool lines)
{
	static const struct gt_otf2_context nowhere = { .region = OTF2_UNDEFINED_REGION,
							.source = OTF2_UNDEFINED_SOURCE_CODE_LOCATION };
	const struct gt_otf2 *read = report->read;
	struct gt_sums sums = { .count = 0 };

	for (uint32_t i = 0; i < all->sums.count; i++) {
		const struct gt_sum *one = &all->sums.items[i];
		const struct gt_otf2_context *context =
			one->key[0] ? gt_otf2_context_at(read, one->key[0] - 1) : &nowhere;
		ptrdiff_t region = gt_otf2_index(read, GT_OTF2_REGION, context->region);
		ptrdiff_t source = gt_otf2_index(read, GT_OTF2_SOURCE, context->source);
		struct gt_sum *sum;

		if (one->key[2])
			sum = gt_sums_at(&sums, gt_samples_ourselves(report), 0, 0, 0);
		else
			sum = gt_sums_at(&sums, gt_samples_function(report, context),
					 region < 0 ? 0 : objects->of[region],
					 lines ? (uint64_t)(source + 1) : 0, 0);
		gt_sum_join(sum, one);
	}
	return sums;
}

/* A property that is a number; 0: there is none. */
static uint64_t processor_time(const struct gt_report *report, enum gt_otf2_kind kind, uint64_t owner)
{
	const struct gt_otf2_property *p =
		gt_otf2_find_owned(report->read, kind, owner, GT_PROPERTY "PROCESSOR_TIME_NS");

	return p && p->text ? strtoull(p->text, NULL, 10) : 0;
}

/* A process, and what it has used. */
struct program {
	const char *name; /* "make [4711]", or of a rank "solver" ... */
	size_t length;    /* ... of which the program is so much */
	uint32_t process;
	uint64_t ns;      /* of the processor */
};

static int by_program(const void *a, const void *b)
{
	const struct program *x = a, *y = b;
	int order = strncmp(x->name, y->name, x->length < y->length ? x->length : y->length);

	return order ? order : (x->length > y->length) - (x->length < y->length);
}

/* Ranks are named by their numbers: of these a property has the program. */
static struct program program_of(const struct gt_report *report, uint32_t process)
{
	const struct gt_otf2_location_group *group = report->classes.processes[process].group;
	const char *name = group->name, *end = strstr(name, " [");
	const struct gt_otf2_property *file =
		end ? NULL : gt_otf2_find_owned(report->read, GT_OTF2_LOCATION_GROUP, group->id,
						GT_PROPERTY "EXECUTABLE");

	if (file && file->text)
		name = gt_text_base(file->text);
	return (struct program){ .name = name, .length = end ? (size_t)(end - name) : strlen(name),
				   .process = process };
}

/* Returns what has been added. */
static uint64_t add_rest(struct gt_sums *sums, uint64_t function, uint64_t object, uint64_t all,
			 uint64_t known)
{
	struct gt_sum *sum;

	if (all <= known)
		return 0;
	sum = gt_sums_at(sums, function, object, 0, 0);
	sum->ns += all - known;
	sum->bytes += all - known;
	return all - known;
}

/*
 * The processor time that no sample stands for. Processes of one program are one row: its object is the
 * first one of them (1 + its index). Returns all of it.
 */
static uint64_t add_unsampled(const struct gt_report *report, const struct gt_stack_sums *all,
			      struct gt_sums *sums)
{
	uint64_t processes = 0, rest = 0, used = processor_time(report, GT_OTF2_KINDS, GT_OTF2_NOTHING);
	uint32_t count = report->classes.process_count;
	struct program *list = gt_zeroed((size_t)count + 1, sizeof(*list));

	for (uint32_t i = 0; i < count; i++) {
		list[i] = program_of(report, i);
		list[i].ns = processor_time(report, GT_OTF2_LOCATION_GROUP,
					    report->classes.processes[i].group->id);
		processes += list[i].ns > all->by_process[i] ? list[i].ns : all->by_process[i];
	}
	qsort(list, count, sizeof(*list), by_program);
	for (uint32_t i = 0, first = 0; i < count; i++) {
		if (by_program(&list[first], &list[i]))
			first = i;
		rest += add_rest(sums, unsampled(report), list[first].process + 1, list[i].ns,
				 all->by_process[list[i].process]);
	}
	rest += add_rest(sums, unrecorded(report), 0, used, processes);
	free(list);
	return rest;
}

/* ---- figures ------------------------------------------------------------------------------------- */

/* Of both sections; the last two are what a terminal shows of the first four. */
enum {
	FUNCTION_NAME,
	FILE_NAME,
	LINE,
	MODULE,
	CPU,
	SHARE_OF_IT,
	SAMPLES,
	ERROR,
	INTERVAL,
	SHOWN_NAME,
	SHOWN_PLACE,
};

static const struct gt_column columns[] = {
	[FUNCTION_NAME] = { "function", NULL, GT_TEXT },
	[FILE_NAME] = { "file", NULL, GT_TEXT },
	[LINE] = { "line", NULL, GT_COUNT },
	[MODULE] = { "module", NULL, GT_TEXT },
	[CPU] = { "cpu_s", "processor", GT_SECONDS },
	[SHARE_OF_IT] = { "share", "of it", GT_SHARE },
	[SAMPLES] = { "samples", "samples", GT_COUNT },
	[ERROR] = { "error_s", NULL, GT_SECONDS },
	[INTERVAL] = { NULL, "+-", GT_WORD },
	[SHOWN_NAME] = { NULL, "function", GT_TEXT },
	[SHOWN_PLACE] = { NULL, "where", GT_TEXT },
};
static const struct gt_section_kind samples_kind =
	GT_SECTION("samples", "Samples", GT_ROWS, columns, .brief = GT_SAMPLES_ROWS);
static const struct gt_section_kind lines_kind =
	GT_SECTION("lines", "Source lines of samples", GT_ROWS, columns, .brief = GT_SAMPLES_ROWS);

struct whole {
	uint64_t count, ns;
	uint64_t rest; /* ns of which there is no sample */
	double number; /* of samples of equal weight that would be as exact (Kish) */
};

static struct whole add_up(const struct gt_stack_sums *all)
{
	struct whole whole = { 0 };
	double squares = 0;

	for (uint32_t i = 0; i < all->sums.count; i++) {
		whole.count += all->sums.items[i].count;
		whole.ns += all->sums.items[i].ns;
		squares += all->sums.items[i].squares;
	}
	if (squares > 0)
		whole.number = (double)whole.ns * (double)whole.ns / squares;
	return whole;
}

bool gt_samples_tried(const struct gt_report *report)
{
	for (size_t i = 0; report && i < report->read->tables[GT_OTF2_PROPERTY].count; i++) {
		const struct gt_otf2_property *p = gt_otf2_property_at(report->read, i);

		if (p->text && !strcmp(p->name, GT_PROPERTY "ADAPTERS") && strstr(p->text, "sampling"))
			return true;
	}
	return false;
}

double gt_samples_rate(const struct gt_report *report)
{
	const struct gt_stack_sums *all = gt_samples_of(report);
	uint64_t known = 0, ns = 0;

	for (uint32_t i = 0; all && i < all->sums.count; i++) {
		known += all->sums.items[i].bytes;
		ns += all->sums.items[i].ns;
	}
	return ns ? 1e9 * (double)known / (double)ns : 0;
}

double gt_samples_interval(double share, double number)
{
	return 100 * 1.96 * sqrt(fmax(share * (1 - share), 0) / number);
}

static const char *interval_of(struct gt_report *report, double share, uint64_t count,
			       const struct whole *whole)
{
	return count < GT_SAMPLES_FEW ? "too few"
			   : gt_figures_text(&report->figures, "%.1f %%",
					     gt_samples_interval(share, whole->number));
}

static void put_figures(struct gt_report *report, const struct gt_sum *sum, const struct whole *whole,
			union gt_cell *row)
{
	row[SAMPLES].count = sum->count;
	if (!sum->bytes)
		return;
	row[CPU].count = sum->ns;
	row[SHARE_OF_IT].number = (double)sum->ns / (double)(whole->ns + whole->rest);
	if (!sum->count)
		return;
	row[ERROR].count = (uint64_t)(sqrt(sum->squares) + 0.5);
	row[INTERVAL].text = interval_of(report, row[SHARE_OF_IT].number, sum->count, whole);
}

static void put_definition(struct gt_report *report, const struct gt_sum *sum, const char *object,
			   union gt_cell *row)
{
	const struct gt_otf2_region *region =
		sum->key[FUNCTION] < report->read->tables[GT_OTF2_REGION].count
		? gt_otf2_region_at(report->read, sum->key[FUNCTION]) : NULL;

	if (region && region->begin_line)
		row[LINE].count = region->begin_line;
	if (region)
		row[FILE_NAME].text = gt_stack_file(region, object);
}

static void put_line(struct gt_report *report, const struct gt_sum *sum, union gt_cell *row)
{
	const struct gt_otf2_source *source =
		sum->key[SOURCE] ? gt_otf2_source_at(report->read, sum->key[SOURCE] - 1) : NULL;

	if (source && *source->file)
		row[FILE_NAME].text = source->file;
	if (source && source->line)
		row[LINE].count = source->line;
}

static void put_place(struct gt_report *report, const struct gt_sum *sum, const char *object,
		      union gt_cell *row)
{
	row[FUNCTION_NAME].text = row[SHOWN_NAME].text = gt_samples_name(report, sum->key[FUNCTION]);
	row[MODULE].text = object;
	row[SHOWN_PLACE].text = row[FILE_NAME].text ? row[FILE_NAME].text : object;
	if (row[FILE_NAME].text && row[LINE].count != GT_NO_COUNT)
		row[SHOWN_PLACE].text = gt_figures_text(&report->figures, "%s:%llu", row[FILE_NAME].text,
							(unsigned long long)row[LINE].count);
}

/* "; not all of it, since ...": what the archive says that samples lack. */
static const char *lack(struct gt_report *report)
{
	static const struct gt_shortfall ended = { "SAMPLING_ENDED", GT_PARTIAL, "", NULL, "" },
					 paths = { "SAMPLING_PATHS", GT_NOTED, "", NULL, "" };
	const char *why = gt_lacking_of(report->read, &ended).words,
		   *how = gt_lacking_of(report->read, &paths).words;

	return gt_figures_text(&report->figures, "%s%s%s%s", why ? "; not all of it, since " : "",
			       why ? why : "", how ? "; call paths are " : "", how ? how : "");
}

uint64_t gt_samples_cost(const struct gt_report *report)
{
	const struct gt_stack_sums *all = gt_samples_of(report);
	uint64_t costed = all ? all->count - all->uncosted : 0;

	if (!all)
		return 0;
	if (!costed)
		return GT_NO_COUNT;
	return (uint64_t)((double)all->cost_ns / (double)costed * (double)all->count) + all->own_ns;
}

/* ", which cost about 62 ms" */
static const char *cost(struct gt_report *report)
{
	uint64_t ns = gt_samples_cost(report);
	char time[32];

	if (ns == GT_NO_COUNT)
		return "";
	gt_cell_print(time, sizeof(time), (union gt_cell){ .count = ns }, GT_SECONDS);
	return gt_figures_text(&report->figures, ", which cost about %s", time);
}

static const char *note(struct gt_report *report, const struct whole *whole)
{
	char count[32], time[32], rest[64] = "";

	gt_cell_print(count, sizeof(count), (union gt_cell){ .count = whole->count }, GT_COUNT);
	gt_cell_print(time, sizeof(time), (union gt_cell){ .count = whole->rest }, GT_SECONDS);
	if (!whole->count)
		return gt_figures_text(&report->figures, "%s of processor time, all of it without a sample%s",
				       time, lack(report));
	if (whole->rest)
		snprintf(rest, sizeof(rest), ", and %s without a sample", time);
	gt_cell_print(time, sizeof(time), (union gt_cell){ .count = whole->ns }, GT_SECONDS);
	if (!whole->ns)
		return gt_figures_text(&report->figures,
				       "%s samples, of which the archive does not say how much processor "
				       "time they stand for%s",
				       count, lack(report));
	return gt_figures_text(&report->figures, "%s samples of %s of processor time%s%s%s", count, time,
			       cost(report), rest, lack(report));
}

/* The object that a function is in, or the program whose time is without a sample. */
static const char *object_of(struct gt_report *report, const struct gt_stack_objects *objects,
			     const struct gt_sum *sum)
{
	uint64_t number = sum->key[OBJECT];
	struct program of;

	if (sum->key[FUNCTION] != unsampled(report))
		return number ? objects->names[number - 1] : NULL;
	of = program_of(report, (uint32_t)(number - 1));
	return gt_figures_text(&report->figures, "%.*s", (int)of.length, of.name);
}

static void table(struct gt_report *report, const struct gt_stack_sums *all,
		  const struct gt_stack_objects *objects, const struct gt_section_kind *kind)
{
	struct gt_section *section = gt_section_add(&report->figures, kind);
	struct gt_sums sums = sum_up(report, all, objects, kind == &lines_kind);
	struct whole whole = add_up(all);

	if (all->by_process)
		whole.rest = add_unsampled(report, all, &sums);
	gt_sums_sort(&sums, GT_SUMS_BY_NS);
	for (uint32_t i = 0; i < sums.count; i++) {
		const char *object = object_of(report, objects, &sums.items[i]);
		union gt_cell *row = gt_row_add(section);

		put_figures(report, &sums.items[i], &whole, row);
		if (kind == &lines_kind)
			put_line(report, &sums.items[i], row);
		else
			put_definition(report, &sums.items[i], object, row);
		put_place(report, &sums.items[i], object, row);
	}
	if (sums.count)
		section->note = note(report, &whole);
	gt_sums_free(&sums);
}

static void figures(struct gt_report *report, void *result)
{
	const struct gt_stack_sums *all = result;

	table(report, all, &all->objects, &samples_kind);
	table(report, all, &all->objects, &lines_kind);
}

static void release(void *result)
{
	struct gt_stack_sums *all = result;

	gt_sums_free(&all->sums);
	gt_sums_free(&all->divided);
	gt_sums_free(&all->waiting);
	for (uint32_t i = 0; i < all->location_count; i++)
		gt_log_free(&all->moments[i]);
	if (all->moments)
		gt_spill_close(&all->spill);
	free(all->moments);
	free(all->asked);
	free(all->by_process);
	free(all->places);
	gt_stack_objects_free(&all->objects);
}

static const struct gt_section_kind *const sections[] = { &samples_kind, &lines_kind, NULL };
const struct gt_analysis gt_samples_analysis = {
	.name = "samples",
	.state_size = sizeof(struct sampling), .result_size = sizeof(struct gt_stack_sums),
	.wanted = wanted, .prepare = prepare, .begin = begin, .event = event, .carry = carry, .merge = merge,
	.figures = figures, .free = release, .sections = sections,
};
