/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The source perf, with this file as the kernel and the processor: groups, pinned ones that have no room,
 * pages that are read without a system call, counters that overflow, descriptors that the program has closed
 * and opened as files of its own, threads, forked children. And meters of energy: powercap's, which begin
 * anew, and the kernel's.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "counters/counters.h"
#include "counters/perf.h"

#define COUNTERS 4 /* of the processor */

static struct {
	struct perf_event_attr attr;
	struct perf_event_mmap_page page;
	int group;
	bool open, replaced;
	uint64_t value;
} events[64];
static int opened, reads, asked, hardware, counter_reads;
static int high; /* added to the numbers of descriptors */
static uint64_t clock_running = 1;
static int read_error;

int gt_descriptor_away(int fd)
{
	return fd;
}

void gt_cn_text(char *text, size_t room, const char *from)
{
	strncpy(text, from, room - 1);
	text[room - 1] = '\0';
}

/* Two ticks are a nanosecond. */
static uint64_t now = 1;

uint64_t gt_now(void)
{
	return now;
}

uint64_t gt_cn_ticks(uint64_t ns)
{
	return 2 * ns;
}

/* One zone of powercap; no range: 0. */
static unsigned energy, energy_range;
static bool power; /* the kernel's meters are there: one */

static size_t read_zone(const char *file, char *text, size_t size)
{
	if (!strcmp(file, "name"))
		return (size_t)snprintf(text, size, "package-0\n");
	if (!strcmp(file, "energy_uj"))
		return (size_t)snprintf(text, size, "%u\n", energy);
	return energy_range ? (size_t)snprintf(text, size, "%u\n", energy_range) : 0;
}

static size_t read_power(const char *file, char *text, size_t size)
{
	if (!power)
		return 0;
	if (!strcmp(file, "type") || !strcmp(file, "cpumask"))
		return (size_t)snprintf(text, size, "%d\n", *file == 't' ? 9 : 0);
	return strcmp(file, "events/energy-pkg") ? 0 : (size_t)snprintf(text, size, "event=0x02\n");
}

size_t gt_cn_read_text(const char *path, char *text, size_t size)
{
	static const char zones[] = "/sys/class/powercap/", zone[] = "intel-rapl:0/",
			  pmu[] = "/sys/bus/event_source/devices/power/";

	*text = '\0';
	if (!strncmp(path, pmu, strlen(pmu)))
		return read_power(path + strlen(pmu), text, size);
	if (strncmp(path, zones, strlen(zones)))
		return (size_t)snprintf(text, size, "4\n");
	path += strlen(zones);
	return strncmp(path, zone, strlen(zone)) ? 0 : read_zone(path + strlen(zone), text, size);
}

static bool on_processor(int fd)
{
	return events[fd].attr.type != PERF_TYPE_SOFTWARE;
}

/* As the kernel: a group that can never be on the processor as a whole is refused. */
static int fake_open(struct perf_event_attr *attr, int cpu, int group)
{
	int members = 1;

	group -= group < 0 ? 0 : high;
	if (attr->type == PERF_TYPE_RAW && attr->config == 0xbad)
		return -ENOENT;
	if (attr->type == PERF_TYPE_SOFTWARE && !attr->exclude_kernel &&
	    attr->config == PERF_COUNT_SW_PAGE_FAULTS_MAJ)
		return -EACCES;
	for (int i = 0; i < opened; i++)
		members += events[i].open && (i == group || events[i].group == group) && on_processor(i);
	if (group >= 0 && attr->type != PERF_TYPE_SOFTWARE && members > COUNTERS)
		return -EINVAL;
	cr_assert_eq(attr->pinned, cpu < 0 && group < 0, "leaders are pinned, members are not");
	events[opened].attr = *attr;
	events[opened].group = group < 0 ? opened : group;
	events[opened].open = true;
	events[opened].value = cpu < 0 ? 0 : energy;
	memset(&events[opened].page, 0, sizeof(events[opened].page));
	hardware += attr->type != PERF_TYPE_SOFTWARE;
	return high + opened++;
}

static uint64_t fake_id(int fd)
{
	asked++;
	fd -= high;
	return events[fd].open && !events[fd].replaced ? 1000 + (uint64_t)fd : 0;
}

static long fake_read(int fd, void *data, size_t bytes)
{
	uint64_t *out = data, n = 0;

	reads++;
	fd -= high;
	cr_assert_not(events[fd].replaced, "what the program would read is taken away from it");
	if (read_error)
		return -read_error;
	cr_assert(events[fd].open);
	if (!(events[fd].attr.read_format & PERF_FORMAT_GROUP)) {
		*out = events[fd].value;
		return sizeof(*out);
	}
	if (on_processor(fd) && hardware > COUNTERS) /* a pinned group that has no room is in error */
		return 0;
	for (int i = fd; i < opened; i++)
		if (events[i].open && events[i].group == fd)
			out[3 + n++] = events[i].value;
	cr_assert_eq(bytes, (3 + n) * sizeof(*out), "the whole group is read at once");
	out[0] = n;
	out[1] = 1;
	out[2] = clock_running;
	return (long)bytes;
}

static void *fake_map(int fd)
{
	return on_processor(fd - high) ? &events[fd - high].page : NULL;
}

static void fake_unmap(void *page)
{
	(void)page;
}

static void fake_close(int fd)
{
	fd -= high;
	cr_assert_not(events[fd].replaced, "the program's file stays open");
	cr_assert(events[fd].open, "descriptors are closed once");
	events[fd].open = false;
	hardware -= on_processor(fd);
}

/* 48 bits wide; the page of the event says which. A change that comes meanwhile is seen once. */
static struct perf_event_mmap_page *changing, *overflowing;
static uint64_t processor = 0xffff00000000u;
static uint64_t fake_counter(uint32_t index)
{
	uint64_t value = processor + index;

	counter_reads++;
	if (changing) {
		changing->lock += 2;
		changing->offset += 1000;
		changing = NULL;
	}
	if (overflowing) { /* the kernel's interrupt: it keeps what was counted, and begins at -2^47 again */
		overflowing->lock += 2;
		overflowing->offset += (int64_t)((value & 0xffffffffffff) + ((uint64_t)1 << 47));
		processor = ((uint64_t)1 << 47) - index;
		overflowing = NULL;
	}
	return value & 0xffffffffffff;
}

static void begin(void)
{
	gt_cn_perf_system = (struct gt_cn_perf_system){ fake_open,  fake_id,	fake_read,   fake_map,
							fake_close, fake_unmap, fake_counter };
}
TestSuite(perf, .init = begin);
TestSuite(rapl, .init = begin);

static uint64_t id(const char *name)
{
	struct gt_plugin_metric metric = { .bytes = sizeof(metric) };
	char why[GT_PLUGIN_TEXT] = "";

	cr_assert_eq(gt_cn_perf.find(name, &metric, 1, why, sizeof(why)), 1, "%s: %s", name, why);
	return metric.id;
}

static void in_page(int fd, uint32_t index, int64_t offset)
{
	events[fd].page.cap_user_rdpmc = 1;
	events[fd].page.pmc_width = 48;
	events[fd].page.index = index;
	events[fd].page.offset = offset;
}

Test(perf, one_read_for_each_group)
{
	uint64_t ids[3] = { id("cycles"), id("instructions"), id("page-faults") }, values[3];
	int first = opened;
	void *state;

	cr_assert_eq(gt_cn_perf.open(ids, 3, 0, &state), 0);
	for (int i = 0; i < 3; i++)
		events[first + i].value = 100 + (uint64_t)i;
	reads = 0;
	cr_assert_eq(gt_cn_perf.read(state, values, 3), 0);
	cr_expect_eq(reads, 1);
	for (int i = 0; i < 3; i++)
		cr_expect_eq(values[i], 100 + (uint64_t)i);
	gt_cn_perf.close(state);
	for (int i = 0; i < opened; i++)
		cr_expect_not(events[i].open);
}

Test(perf, clocks_lead)
{
	uint64_t ids[3] = { id("page-faults"), id("task-clock"), id("cs") }, values[3];
	int first = opened;
	void *state;

	cr_assert_eq(gt_cn_perf.open(ids, 3, 0, &state), 0);
	for (int i = 0; i < 3; i++)
		events[first + i].value = 10 + (uint64_t)i;
	reads = 0;
	cr_assert_eq(gt_cn_perf.read(state, values, 3), 0);
	cr_expect_eq(reads, 2);
	cr_expect_eq(events[first + 1].group, first + 1, "as a member it would stand still");
	for (int i = 0; i < 3; i++)
		cr_expect_eq(values[i], 10 + (uint64_t)i);
	gt_cn_perf.close(state);
}

Test(perf, nothing_is_estimated)
{
	uint64_t ids[6] = { id("cycles"),	 id("instructions"), id("branches"),
			    id("branch-misses"), id("r01c4"),	     id("rff") };
	uint64_t values[6];
	void *state;

	cr_expect_neq(gt_cn_perf.open(ids, 6, 0, &state), 0, "more than the processor has");
	cr_expect_eq(hardware, 0, "what was opened is closed again");
	cr_assert_eq(gt_cn_perf.open(ids, 4, 0, &state), 0);
	clock_running = 0;
	cr_expect_eq(gt_cn_perf.read(state, values, 4), -EBUSY,
		     "counted a part of the time: lost, not scaled");
	clock_running = 1;
	hardware = COUNTERS + 1; /* somebody else took the processor's counters */
	cr_expect_eq(gt_cn_perf.read(state, values, 4), -ENOSPC);
}

Test(perf, pages_that_allow_nothing)
{
	uint64_t ids[2] = { id("cycles"), id("instructions") }, values[2];
	void *state;

	cr_assert_eq(gt_cn_perf.open(ids, 2, 0, &state), 0);
	reads = counter_reads = 0;
	cr_assert_eq(gt_cn_perf.read(state, values, 2), 0);
	cr_expect_eq(reads, 1);
	cr_expect_eq(counter_reads, 0);
	gt_cn_perf.close(state);
}

Test(rapl, begins_anew)
{
	struct gt_plugin_metric metric = { .bytes = sizeof(metric) };
	char why[GT_PLUGIN_TEXT] = "";
	uint64_t value;
	void *state;

	energy = 900;
	energy_range = 1000;
	cr_assert_eq(gt_cn_rapl.begin(NULL, why, sizeof(why)), 0, "%s", why);
	cr_assert_eq(gt_cn_rapl.find("all", &metric, 1, why, sizeof(why)), 1, "%s", why);
	cr_assert_eq(gt_cn_rapl.open(&metric.id, 1, 0, &state), 0);
	energy = 950;
	cr_assert_eq(gt_cn_rapl.read(state, &value, 1), 0);
	cr_expect_eq(value, 50);
	energy = 30;
	cr_assert_eq(gt_cn_rapl.read(state, &value, 1), 0);
	cr_expect_eq(value, 130, "behind the end of its range: %llu", (unsigned long long)value);
	gt_cn_rapl.close(state);
}

/* A meter that says no range and falls: 30 at least were taken, and not 2^64. */
Test(rapl, falls_without_a_range)
{
	struct gt_plugin_metric metric = { .bytes = sizeof(metric) };
	char why[GT_PLUGIN_TEXT] = "";
	uint64_t value;
	void *state;

	energy = 900;
	cr_assert_eq(gt_cn_rapl.begin(NULL, why, sizeof(why)), 0, "%s", why);
	cr_assert_eq(gt_cn_rapl.find("all", &metric, 1, why, sizeof(why)), 1, "%s", why);
	cr_assert_eq(gt_cn_rapl.open(&metric.id, 1, 0, &state), 0);
	energy = 30;
	cr_assert_eq(gt_cn_rapl.read(state, &value, 1), 0);
	cr_expect_eq(value, 30, "%llu", (unsigned long long)value);
	gt_cn_rapl.close(state);
}

static void *mapped(int fd)
{
	struct perf_event_mmap_page *page = fake_map(fd);

	in_page(fd, (uint32_t)fd % COUNTERS + 1, 0x1000000000000 - 0xffff00000000 + 7);
	return page;
}

/* One counter, read from its page. */
static uint64_t *counted(struct perf_event_mmap_page **page)
{
	static uint64_t value[1];
	static void *state;
	uint64_t ids[1] = { id("cycles") };

	if (page) {
		*page = &events[opened].page;
		gt_cn_perf_system.map = mapped;
		cr_assert_eq(gt_cn_perf.open(ids, 1, 0, &state), 0);
		in_page(opened - 1, 1, 0x1000000000000);
	}
	reads = 0;
	cr_assert_eq(gt_cn_perf.read(state, value, 1), 0);
	cr_assert_eq(reads, 0, "from its page");
	return value;
}

Test(perf, counters_that_overflow)
{
	struct perf_event_mmap_page *page;

	processor = 0xfffffffffffd;
	cr_expect_eq(*counted(&page), 0xfffffffffffd, "just before it passes 48 bits");
	processor = 0x1000000000004;
	cr_expect_eq(*counted(NULL), 0x1000000000004, "seven more: the interrupt is still to come");
	overflowing = page;
	cr_expect_eq(*counted(NULL), 0x1000000000004, "the interrupt comes meanwhile: nothing is added");
	processor += 5;
	cr_expect_eq(*counted(NULL), 0x1000000000009, "and after it: only what was counted");
}

Test(perf, without_a_system_call)
{
	uint64_t ids[2] = { id("cycles"), id("instructions") }, values[2];
	int first = opened;
	void *state;

	gt_cn_perf_system.map = mapped;
	cr_assert_eq(gt_cn_perf.open(ids, 2, 0, &state), 0);
	reads = counter_reads = 0;
	cr_assert_eq(gt_cn_perf.read(state, values, 2), 0);
	cr_expect_eq(reads, 0);
	cr_expect_eq(counter_reads, 2);
	for (int i = 0; i < 2; i++) /* the counter is a signed number of 48 bits on top of the offset */
		cr_expect_eq(values[i], 7 + (uint64_t)((first + i) % COUNTERS), "%llx",
			     (unsigned long long)values[i]);
	changing = &events[first].page;
	cr_assert_eq(gt_cn_perf.read(state, values, 2), 0);
	cr_expect_eq(values[0], 1007 + (uint64_t)(first % COUNTERS), "what changed meanwhile is read again");
	events[first + 1].page.index = 0;
	events[first].value = events[first + 1].value = 5;
	cr_assert_eq(gt_cn_perf.read(state, values, 2), 0);
	cr_expect_eq(reads, 1, "one that is on no counter: read()");
	cr_expect_eq(values[1], 5);
	gt_cn_perf.close(state);
}

Test(perf, closed_by_the_program)
{
	uint64_t ids[1] = { id("page-faults") }, values[1];
	void *state;

	cr_assert_eq(gt_cn_perf.open(ids, 1, 0, &state), 0);
	read_error = EBADF;
	cr_expect_eq(gt_cn_perf.read(state, values, 1), -EBADF);
	read_error = reads = 0;
	events[opened - 1].replaced = true;
	cr_expect_eq(gt_cn_perf.read(state, values, 1), -EBADF);
	cr_expect_eq(reads, 0, "its number may be the program's now");
	gt_cn_perf.close(state);
	cr_expect(events[opened - 1].open, "nor is it closed");
}

/* Closed and opened again between two readings: no error of read() says so. */
Test(perf, replaced_by_the_program)
{
	uint64_t ids[3] = { id("task-clock"), id("cpu-clock"), id("page-faults") }, values[3];
	int first = opened;
	void *state;

	cr_assert_eq(gt_cn_perf.open(ids, 3, 0, &state), 0);
	events[first].replaced = true;
	reads = 0;
	cr_expect_eq(gt_cn_perf.read(state, values, 3), -EBADF);
	cr_expect_eq(reads, 0);
	gt_cn_perf.close(state);
	cr_expect(events[first].open, "the program's file stays open");
	cr_expect_not(events[first + 1].open || events[first + 2].open, "what is ours is closed");
}

/* No file of the program's gets such a number soon: whose it is is asked now and then. */
Test(perf, high_number)
{
	uint64_t ids[2] = { id("page-faults"), id("minor-faults") }, values[2];
	void *state;

	high = GT_CN_HIGH;
	cr_assert_eq(gt_cn_perf.open(ids, 2, 0, &state), 0);
	asked = 0;
	for (unsigned i = 0; i < 1000; i++, now += gt_cn_ticks(GT_CN_TRUST) / 10)
		cr_assert_eq(gt_cn_perf.read(state, values, 2), 0);
	cr_expect_eq(asked, 99, "%d", asked); /* and when it was opened */
	events[opened - 2].replaced = true;
	now += gt_cn_ticks(GT_CN_TRUST);
	reads = 0;
	cr_expect_eq(gt_cn_perf.read(state, values, 2), -EBADF);
	cr_expect_eq(reads, 0);
	gt_cn_perf.close(state);
}

/* In the moment after it was opened: nothing of the program's becomes ours. */
Test(perf, replaced_at_once)
{
	uint64_t ids[1] = { id("page-faults") };
	void *state;

	events[opened].replaced = true;
	cr_expect_eq(gt_cn_perf.open(ids, 1, 0, &state), -EBADF);
	cr_expect(events[opened - 1].open);
}

Test(rapl, replaced_by_the_program)
{
	struct gt_plugin_metric metric = { .bytes = sizeof(metric) };
	char why[GT_PLUGIN_TEXT] = "";
	uint64_t value;
	void *state;

	power = true;
	energy = 900;
	cr_assert_eq(gt_cn_rapl.begin(NULL, why, sizeof(why)), 0, "%s", why);
	cr_assert_eq(gt_cn_rapl.find("energy-pkg.cpu0", &metric, 1, why, sizeof(why)), 1, "%s", why);
	cr_assert_eq(gt_cn_rapl.open(&metric.id, 1, 0, &state), 0);
	events[opened - 1].value += 50;
	cr_assert_eq(gt_cn_rapl.read(state, &value, 1), 0);
	cr_expect_eq(value, 50, "no scale is said: %llu", (unsigned long long)value);
	events[opened - 1].replaced = true;
	cr_expect_neq(gt_cn_rapl.read(state, &value, 1), 0);
	gt_cn_rapl.close(state);
	cr_expect(events[opened - 1].open, "the program's file stays open");
}

Test(perf, forked_child)
{
	uint64_t ids[2] = { id("cycles"), id("page-faults") };
	void *state, *again;

	cr_assert_eq(gt_cn_perf.open(ids, 2, 0, &state), 0);
	gt_cn_perf.forked();
	for (int i = 0; i < opened; i++)
		cr_expect_not(events[i].open, "the parent's are closed");
	cr_assert_eq(gt_cn_perf.open(ids, 2, 0, &again), 0);
	cr_expect_eq(again, state, "and their memory is used again");
}

Test(perf, names)
{
	struct gt_plugin_metric metric = { .bytes = sizeof(metric) };
	char why[GT_PLUGIN_TEXT] = "";

	cr_expect_eq(id("cs"), id("context-switches"));
	cr_expect_eq(id("major-faults") & 0xff, PERF_COUNT_SW_PAGE_FAULTS_MAJ,
		     "user mode only, without the right to more");
	cr_expect_eq(id("LLC-load-misses") & 0xffffffffffffff,
		     PERF_COUNT_HW_CACHE_LL | PERF_COUNT_HW_CACHE_RESULT_MISS << 16);
	cr_expect_eq(id("dTLB-stores") & 0xffffffffffffff,
		     PERF_COUNT_HW_CACHE_DTLB | PERF_COUNT_HW_CACHE_OP_WRITE << 8);
	cr_expect_eq(id("r01C4") & 0xffffffffffffff, 0x1c4);
	cr_expect_eq(gt_cn_perf.find("r", &metric, 1, why, sizeof(why)), 0);
	cr_expect_eq(gt_cn_perf.find("rags", &metric, 1, why, sizeof(why)), 0);
	cr_expect_eq(gt_cn_perf.find("r123456789abcdef0", &metric, 1, why, sizeof(why)), 0);
	cr_expect_eq(gt_cn_perf.find("rbad", &metric, 1, why, sizeof(why)), -ENOTSUP);
	cr_expect(strstr(why, "virtual machine"), "%s", why);
}
