/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Energy that the host's processors took: the kernel's perf events 'power', or the files of powercap.
 *
 * Limits: joules times 1e6 (powercap) or as the kernel scales them (perf). Both need rights:
 * perf_event_paranoid of 0 or CAP_PERFMON, or files that are readable (root alone, on most systems).
 * Powercap's numbers begin anew at max_energy_range_uj, which is put right as long as they are read at least
 * once in between.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "counters/counters.h"
#include "counters/perf.h"
#include "gputrace/syscall.h"

#define MOST   32u /* zones of powercap, and events of perf times packages */
#define PMU    "/sys/bus/event_source/devices/power/"
#define ZONES  "/sys/class/powercap/"
#define ZONE_MOST 8u

static struct meter {
	char name[64];
	char path[128];       /* powercap: energy_uj */
	uint32_t type;        /* perf */
	uint64_t config;
	int cpu;
	double scale;         /* of one unit of perf, in microjoules */
	char missing[GT_PLUGIN_TEXT];
	/* While it is open. */
	struct gt_cn_event event;
	uint64_t range, last, sum;
} meters[MOST];
static unsigned count;

/* Its first line. */
static bool read_text(const char *path, char *text, size_t size)
{
	size_t n = gt_cn_read_text(path, text, size);

	text[strcspn(text, "\n")] = '\0';
	return n > 0;
}

/* ---- perf ---------------------------------------------------------------------------------------- */

static int open_perf(struct meter *m)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .type = m->type, .config = m->config };

	return gt_cn_event_open(&m->event, &attr, m->cpu, NULL);
}

static bool read_perf(struct meter *m, uint64_t *value)
{
	return gt_cn_event_read(&m->event, value, sizeof(*value)) == sizeof(*value);
}

static void add_perf(const char *event, uint32_t type, int cpu)
{
	struct meter *m = &meters[count];
	char path[160], text[64];
	int rc;

	snprintf(path, sizeof(path), PMU "events/%s", event);
	if (count == MOST || !read_text(path, text, sizeof(text)) || strncmp(text, "event=", 6))
		return;
	*m = (struct meter){ .type = type, .config = strtoull(text + 6, NULL, 0), .cpu = cpu };
	snprintf(path, sizeof(path), PMU "events/%s.scale", event);
	m->scale = read_text(path, text, sizeof(text)) ? strtod(text, NULL) * 1e6 : 1;
	snprintf(m->name, sizeof(m->name), "%s.cpu%d", event, cpu);
	rc = open_perf(m);
	if (rc)
		gt_cn_text(m->missing, sizeof(m->missing), rc == -EACCES || rc == -EPERM
				   ? "no permission (perf_event_paranoid of 0, or CAP_PERFMON, would do)"
				   : "the kernel does not count it");
	count++;
}

/* A virtual machine can have the events without a meter behind them: a meter moves each millisecond. */
static void drop_still(void)
{
	static const struct timespec some_updates = { .tv_nsec = 5000000 };
	uint64_t value;

	if (count)
		gt_raw(SYS_nanosleep, &some_updates, NULL);
	for (unsigned i = 0; i < count; i++) {
		struct meter *m = &meters[i];

		if (m->event.fd < 0)
			continue;
		if (!read_perf(m, &value) || value == 0)
			gt_cn_text(m->missing, sizeof(m->missing),
				   "its value stands still (a virtual machine?)");
		gt_cn_event_close(&m->event);
	}
}

/* The events of each processor in the mask: one of each package. */
static void find_perf(void)
{
	static const char *const events[] = { "energy-pkg", "energy-cores", "energy-gpu", "energy-ram",
					      "energy-psys" };
	char text[64], mask[256];
	uint32_t type;

	if (!read_text(PMU "type", text, sizeof(text)) || !read_text(PMU "cpumask", mask, sizeof(mask)))
		return;
	type = (uint32_t)strtoul(text, NULL, 10);
	for (char *at = mask; *at; at += *at == ',') {
		int cpu = (int)strtol(at, &at, 10);

		for (unsigned i = 0; i < sizeof(events) / sizeof(events[0]); i++)
			add_perf(events[i], type, cpu);
		if (*at == '-') /* a range: packages of one processor each */
			*at = ',';
		else if (*at != ',')
			break;
	}
}

/* ---- powercap --------------------------------------------------------------------------------------- */

static void add_zone(const char *zone)
{
	struct meter *m = &meters[count];
	char path[160], text[64];

	snprintf(path, sizeof(path), ZONES "%s/name", zone);
	if (count == MOST || !read_text(path, text, sizeof(text)))
		return;
	*m = (struct meter){ .event = { .fd = -1 } };
	snprintf(m->name, sizeof(m->name), "%.24s.%.36s", zone, text);
	for (char *at = m->name; (at = strchr(at, ':'));)
		*at = '-';
	snprintf(m->path, sizeof(m->path), ZONES "%s/energy_uj", zone);
	snprintf(path, sizeof(path), ZONES "%s/max_energy_range_uj", zone);
	if (read_text(path, text, sizeof(text)))
		m->range = strtoull(text, NULL, 10);
	if (!read_text(m->path, text, sizeof(text)))
		gt_cn_text(m->missing, sizeof(m->missing), "no permission to read energy_uj");
	count++;
}

static void find_zones(void)
{
	char zone[64];

	for (unsigned i = 0; i < ZONE_MOST; i++) {
		snprintf(zone, sizeof(zone), "intel-rapl:%u", i);
		add_zone(zone);
		for (unsigned k = 0; k < ZONE_MOST; k++) {
			snprintf(zone, sizeof(zone), "intel-rapl:%u:%u", i, k);
			add_zone(zone);
		}
	}
}

static int begin(const struct gt_plugin_host *host, char *why, size_t room)
{
	(void)host;
	find_perf();
	drop_still();
	find_zones();
	if (!count)
		gt_cn_text(why, room, "there is no " PMU " and no " ZONES "intel-rapl:0");
	return count ? 0 : -ENOENT;
}

/* ---- the source --------------------------------------------------------------------------------------- */

static void describe(unsigned i, struct gt_plugin_metric *metric)
{
	metric->id = i;
	gt_cn_text(metric->name, sizeof(metric->name), meters[i].name);
	gt_cn_text(metric->unit, sizeof(metric->unit), "uJ");
	gt_cn_text(metric->description, sizeof(metric->description), "energy since the recording began");
	gt_cn_text(metric->missing, sizeof(metric->missing), meters[i].missing);
	metric->value = GT_PLUGIN_UINT;
	metric->mode = GT_PLUGIN_ACCUMULATED;
	metric->base = GT_PLUGIN_DECIMAL;
	metric->scope = GT_PLUGIN_HOST;
}

static void list(gt_plugin_each *each, void *argument)
{
	for (unsigned i = 0; i < count; i++) {
		struct gt_plugin_metric metric = { .bytes = sizeof(metric) };

		describe(i, &metric);
		each(&metric, argument);
	}
}

/* "all": every one that can be read. */
static int find(const char *name, struct gt_plugin_metric *metrics, unsigned room, char *why, size_t why_room)
{
	unsigned found = 0;

	for (unsigned i = 0; i < count && found < room; i++) {
		if (strcmp(name, "all") && strcmp(name, meters[i].name))
			continue;
		if (meters[i].missing[0])
			gt_cn_text(why, why_room, meters[i].missing);
		else
			describe(i, &metrics[found++]);
	}
	return found || !why[0] ? (int)found : -EACCES;
}

static int read_raw(struct meter *m, uint64_t *value)
{
	char text[64];

	if (m->path[0]) {
		if (!read_text(m->path, text, sizeof(text)))
			return -EIO;
		*value = strtoull(text, NULL, 10);
		return 0;
	}
	return read_perf(m, value) ? 0 : -EIO;
}

static int read_meter(struct meter *m, uint64_t *value)
{
	uint64_t now;

	if (read_raw(m, &now))
		return -EIO;
	/* From an end that is not known, what came after it is counted. */
	m->sum += now >= m->last ? now - m->last : now + (m->range > m->last ? m->range - m->last : 0);
	m->last = now;
	*value = m->path[0] ? m->sum : (uint64_t)((double)m->sum * m->scale);
	return 0;
}

/* There is one opening, of the process that reads for its host; its ids are the state. */
static uint8_t open_ids[GT_PLUGIN_METRICS];

static void close_set(void *state)
{
	(void)state;
	for (unsigned i = 0; i < count; i++)
		gt_cn_event_close(&meters[i].event);
}

static int open_set(const uint64_t *ids, unsigned n, unsigned flags, void **state)
{
	int rc = 0;

	(void)flags;
	for (unsigned i = 0; !rc && i < n; i++) {
		struct meter *m = &meters[ids[i]];

		open_ids[i] = (uint8_t)ids[i];
		rc = m->path[0] ? 0 : open_perf(m);
		rc = rc ? rc : read_raw(m, &m->last);
		m->sum = 0;
	}
	if (rc)
		close_set(NULL);
	*state = open_ids;
	return rc;
}

static int read_set(void *state, uint64_t *values, unsigned n)
{
	const uint8_t *ids = state;
	int rc = 0;

	for (unsigned i = 0; !rc && i < n; i++)
		rc = read_meter(&meters[ids[i]], &values[i]);
	return rc;
}

static void forked(void)
{
	close_set(NULL);
}

const struct gt_plugin gt_cn_rapl = {
	.bytes = sizeof(gt_cn_rapl),
	.abi = GT_PLUGIN_ABI,
	.ways = GT_PLUGIN_POLLED,
	.name = "rapl",
	.description = "energy of the host's processors and memory",
	.begin = begin,
	.forked = forked,
	.list = list,
	.find = find,
	.open = open_set,
	.read = read_set,
	.close = close_set,
	.flags = GT_PLUGIN_BARE,
};
