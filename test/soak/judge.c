/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares an archive with what the program counted itself (truth.h):
 *
 *   judge ARCHIVE/traces.otf2 TRUTH [NAME...]    NAME: functions that the run's filter leaves out
 *
 * Prints "CALLS n LOST n" and a line for each thing that is wrong; 1: something is. For each name the archive
 * has the calls that were counted, at most truth.slack more, and at most as many fewer as it says that it has
 * lost. If nothing was lost, it has as many values, messages and markers as counted, and the functions are as
 * deep as they were.
 *
 * Limits: any event that is counted as lost may be the call that is missing. Where the archive says that more
 * was lost than it has counted (EVENTS_UNCOUNTED), only its upper limit is compared.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/read/read.h"
#include "truth.h"

static struct truth truth;
static uint64_t seen[TRUTH_NAMES], left[TRUTH_NAMES], depth, lost, uncounted, events[GT_OTF2_TYPES], markers;
static int wrong;
#define UNCOUNTED (UINT64_C(1) << 60) /* as the archive says, more events are lost than it has counted */

struct state { /* of a location */
	uint64_t seen[TRUTH_NAMES], left[TRUTH_NAMES], depth, open, events[GT_OTF2_TYPES];
};

/* Without arguments, and without what compilers add to clones. */
static int name_of(const struct gt_otf2_frame *frame)
{
	const char *name = frame->region->name;
	size_t length = strcspn(name, "(.");
	const char *dot = !strncmp(name, "__main__.", 9) ? name + 9 : name;

	if (dot != name)
		length = strlen(dot);
	for (int i = 0; i < TRUTH_NAMES; i++)
		if (strlen(truth.of[i].name) == length && !strncmp(truth.of[i].name, dot, length))
			return i;
	return -1;
}

static int is_deep(int name)
{
	return truth.of[name].name[0] == 'f' && strchr("0123456789", truth.of[name].name[1]);
}

/* A call that was left because its thread goes on on another stack, and is entered again here. */
static int continues(const struct gt_otf2_cursor *at)
{
	return at->attribute_count &&
	       gt_otf2_has_attribute(at, gt_otf2_attribute_named(at->read, "CONTINUES"));
}

static void enter(struct gt_otf2_cursor *at)
{
	struct state *state = at->state;
	int name = name_of(&at->stack[at->depth - 1]), again = continues(at);

	if (name < 0)
		return;
	if (again)
		state->left[name]--;
	else
		state->seen[name]++;
	if (is_deep(name))
		state->open++;
	if (is_deep(name) && !again)
		state->depth += state->open;
}

static void leave(struct gt_otf2_cursor *at, const struct gt_otf2_frame *frame)
{
	struct state *state = at->state;
	int name = name_of(frame);

	if (name < 0)
		return;
	state->left[name]++;
	if (is_deep(name))
		state->open--;
}

static bool is_value(const struct gt_otf2 *read, uint64_t id)
{
	const struct gt_otf2_metric *metric = gt_otf2_find_metric(read, id);
	const struct gt_otf2_metric_member *member =
		metric && metric->count ? gt_otf2_find_metric_member(read, metric->members[0]) : NULL;

	return member && !strcmp(member->name, "soak value");
}

static void event(struct gt_otf2_cursor *at, const struct gt_otf2_event *event)
{
	struct state *state = at->state;

	if (event->type == GT_OTF2_Metric && !is_value(at->read, event->Metric.metric))
		return;
	if (event->type == GT_OTF2_MpiCollectiveEnd &&
	    event->MpiCollectiveEnd.op == OTF2_COLLECTIVE_OP_CREATE_HANDLE)
		return;
	state->events[event->type]++;
}

static void merge(struct gt_otf2_cursor *at)
{
	struct state *state = at->state;

	for (int i = 0; i < TRUTH_NAMES; i++) {
		seen[i] += state->seen[i];
		left[i] += state->left[i];
	}
	for (int i = 0; i < GT_OTF2_TYPES; i++)
		events[i] += state->events[i];
	depth += state->depth;
}

static void on_marker(void *user, const struct gt_otf2_marker *marker)
{
	(void)user;
	markers += !strcmp(marker->category, "soak marker");
}

static void add_losses(const struct gt_otf2 *read)
{
	for (size_t i = 0; i < read->tables[GT_OTF2_PROPERTY].count; i++) {
		const struct gt_otf2_property *p = gt_otf2_property_at(read, i);
		uint64_t value = p->type == OTF2_TYPE_STRING ? strtoull(p->text, NULL, 10) : p->value.uint64;

		if (p->kind != GT_OTF2_KINDS || strstr(p->name, "FILTER") || strstr(p->name, "REWIND"))
			continue;
		if (!strncmp(p->name, "GPUTRACE::LOST_", 15))
			lost += value;
		if (!strcmp(p->name, "GPUTRACE::EVENTS_UNCOUNTED"))
			uncounted += value;
	}
	if (truth.late && uncounted)
		lost += UNCOUNTED;
}

static bool filtered(int name, char **names)
{
	for (; *names; names++)
		if (!strcmp(*names, truth.of[name].name))
			return true;
	return false;
}

static uint64_t compare_calls(char **filter)
{
	uint64_t missing = 0, more = 0, all = 0;

	for (int i = 0; i < TRUTH_NAMES; i++) {
		uint64_t want = filtered(i, filter) ? 0 : truth.of[i].on, may = want ? truth.of[i].may : 0;

		all += want;
		if (seen[i] < want)
			missing += want - seen[i];
		else if (seen[i] > want + may)
			more += seen[i] - want - may;
		if (seen[i] + truth.slack + lost < want || seen[i] > want + may + truth.slack)
			wrong = printf("%s: %" PRIu64 " calls counted, %" PRIu64 " in the archive\n",
				       truth.of[i].name, want, seen[i]);
		if (seen[i] != left[i])
			wrong = printf("%s: %" PRIu64 " enters, %" PRIu64 " leaves\n", truth.of[i].name,
				       seen[i], left[i]);
	}
	if (missing > lost + truth.slack || more > truth.slack)
		wrong = printf("%" PRIu64 " calls too few, %" PRIu64 " too many; %" PRIu64
			       " events lost, %" PRIu64 " may differ\n",
			       missing, more, lost, truth.slack);
	return all;
}

static void same(const char *what, uint64_t counted, uint64_t found)
{
	if (counted != found)
		wrong = printf("%s: %" PRIu64 " counted, %" PRIu64 " in the archive\n", what, counted, found);
}

static void compare_rest(bool no_filter)
{
	uint64_t may = 0;

	for (int i = 0; i < TRUTH_NAMES; i++)
		may += truth.of[i].may;
	if (lost || truth.slack)
		return;
	if (!truth.depth_bad && !may && no_filter)
		same("sum of depths", truth.depth, depth);
	same("values", truth.values, events[GT_OTF2_Metric]);
	same("sent messages", truth.sends + truth.messages,
	     events[GT_OTF2_MpiSend] + events[GT_OTF2_MpiIsend]);
	same("received messages", truth.receives + truth.messages,
	     events[GT_OTF2_MpiRecv] + events[GT_OTF2_MpiIrecv]);
	same("collective operations of MPI", truth.collectives, events[GT_OTF2_MpiCollectiveEnd]);
	same("markers", truth.markers, markers);
}

static bool read_truth(const char *path)
{
	FILE *file = fopen(path, "r");
	bool got = file && fread(&truth, sizeof(truth), 1, file) == 1;

	if (file)
		fclose(file);
	return got;
}

__attribute__((format(printf, 4, 0)))
static void fault(void *user, struct gt_otf2_cursor *at, enum gt_otf2_fault what, const char *format,
		  va_list args)
{
	(void)user, (void)at;
	if (what != GT_OTF2_FILES)
		return;
	wrong = vprintf(format, args);
	putchar('\n');
}

int main(int argc, char **argv)
{
	static const struct gt_otf2_visitor visitor = { .state_size = sizeof(struct state), .enter = enter,
							.leave = leave, .event = event, .merge = merge,
							.fault = fault };
	struct gt_otf2 *read;
	uint64_t calls;

	if (argc < 3 || !read_truth(argv[2]))
		return 2;
	read = gt_otf2_open(argv[1], &(struct gt_otf2_options){ .visitor = &visitor, .threads = 1 });
	if (!read || gt_otf2_definitions(read) || gt_otf2_events(read) || gt_otf2_markers(read, on_marker)) {
		printf("the archive cannot be read\n");
		return 1;
	}
	add_losses(read);
	gt_otf2_close(read);
	calls = compare_calls(argv + 3);
	compare_rest(argc == 3);
	printf("CALLS %" PRIu64 " LOST %" PRIu64 "\n", calls, lost % UNCOUNTED);
	return wrong != 0;
}
