/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Services for sources: texts, small files, and the trace's clock.
 * Limits: see counters.h.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "counters/counters.h"
#include "gputrace/syscall.h"

/* A moment on both clocks, from when the first source began. */
static uint64_t first_tick, first_ns;

/* ---- files -------------------------------------------------------------------------------------- */

size_t gt_cn_read_text(const char *path, char *text, size_t size)
{
	return gt_raw_read_text(path, text, size);
}

/* ---- the clock ---------------------------------------------------------------------------------- */

/* How far both clocks have come since then. Before that is known well a tick is a nanosecond. */
static void elapsed(uint64_t *ticks, uint64_t *ns)
{
	*ns = gt_monotonic() - first_ns;
	*ticks = gt_now() - first_tick;
	if (*ns < 1000000 || !*ticks)
		*ticks = *ns = 1;
}

uint64_t gt_cn_first_tick(void)
{
	return first_tick;
}

uint64_t gt_cn_ticks(uint64_t interval)
{
	uint64_t ticks, ns;

	elapsed(&ticks, &ns);
	return (uint64_t)((unsigned __int128)interval * ticks / ns);
}

uint64_t gt_cn_tick_of(uint64_t monotonic)
{
	uint64_t ticks, ns;

	elapsed(&ticks, &ns);
	if (monotonic < first_ns)
		return first_tick - (uint64_t)((unsigned __int128)(first_ns - monotonic) * ticks / ns);
	return first_tick + (uint64_t)((unsigned __int128)(monotonic - first_ns) * ticks / ns);
}

/* ---- messages ------------------------------------------------------------------------------------- */

static uint64_t *said; /* a bit for each; shared with all forked children */

void gt_cn_say_begin(void)
{
	said = gt_raw_memory(sizeof(*said), MAP_SHARED);
}

bool gt_cn_first_to_say(unsigned bit)
{
	return said && !(__atomic_fetch_or(said, UINT64_C(1) << bit, __ATOMIC_RELAXED) >> bit & 1);
}

static void say(int level, const char *text)
{
	gt_message(level, "%s", text);
}

static const struct gt_plugin_host host = {
	.bytes = sizeof(host),
	.abi = GT_PLUGIN_ABI,
	.now = gt_now,
	.tick_of = gt_cn_tick_of,
	.say = say,
	.setting = gt_setting,
};

const struct gt_plugin_host *gt_cn_host(void)
{
	if (!first_ns) {
		first_ns = gt_monotonic();
		first_tick = gt_now();
	}
	return &host;
}

void gt_cn_text(char *text, size_t room, const char *from)
{
	size_t n = strlen(from);

	if (!room)
		return;
	n = n < room ? n : room - 1;
	memcpy(text, from, n);
	text[n] = '\0';
}
