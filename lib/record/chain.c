/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Comparisons of this host's clock with another host's: each goes into the journal. At the end of a
 * parallel program the chain of clocks that leads to this one does, too.
 *
 * Limits: of many comparisons some, evenly chosen, are in the chain; and none of it if this process's clock was
 * compared with more than one other. No malloc, no stdio. One thread at a time.
 */
#include "gputrace/ranks.h"
#include "lib/common/text.h"
#include "lib/record/record.h"

#include <string.h>

#define KNOTS_MOST 96u

static struct gt_def_clock own;
static struct gt_def_sync_point sync_points[KNOTS_MOST + 1], latest;
static uint32_t seen, stride = 1;
static bool mixed; /* compared with several clocks */

static void note(const struct gt_def_sync_point *point)
{
	latest = *point;
	if (seen++ % stride)
		return;
	if (own.count == KNOTS_MOST) {
		for (uint32_t i = 0; i < KNOTS_MOST / 2; i++)
			sync_points[i] = sync_points[2 * i];
		own.count = KNOTS_MOST / 2;
		stride *= 2;
		if ((seen - 1) % stride)
			return;
	}
	sync_points[own.count++] = *point;
}

void gt_clocks_compared(const char *reference, uint32_t kind, uint64_t tick, uint64_t other_tick,
			uint64_t width)
{
	struct gt_def_sync def = { .tick = tick, .other_tick = other_tick, .width = width,
				   .kind = kind };
	struct gt_piece piece = { &def, sizeof(def) };
	char name[sizeof(own.reference)] = "";

	if (!gt_start())
		return;
	def.reference = gt_def_string(reference);
	gt_journal_put(GT_D_SYNC, 0, &piece, 1);
	gt_text(name, sizeof(name), "%s", reference);
	mixed |= seen && (strcmp(own.reference, name) || own.reference_kind != kind);
	memcpy(own.reference, name, sizeof(name));
	own.reference_kind = kind;
	note(&(struct gt_def_sync_point){ tick, other_tick, width });
}

/* This host's own link, at the end of the chain. */
static uint32_t append(char *chain, uint32_t bytes, uint32_t room)
{
	uint32_t need;

	if (own.count && memcmp(&latest, &sync_points[own.count - 1], sizeof(latest)))
		sync_points[own.count++] = latest;
	need = (uint32_t)(sizeof(own) + own.count * sizeof(*sync_points));
	if (need > room - bytes)
		return 0;
	own.nominal_hz = gt_proc->nominal_hz;
	own.kind = gt_clock_kind;
	own.first = gt_proc->first;
	gt_clock_calibrate(&own.last);
	memcpy(own.host, gt_proc->host, sizeof(own.host));
	memcpy(chain + bytes, &own, sizeof(own));
	memcpy(chain + bytes + sizeof(own), sync_points, own.count * sizeof(*sync_points));
	return bytes + need;
}

uint32_t gt_clocks_chain(void *chain, uint32_t bytes, uint32_t room)
{
	struct gt_def_clock link;
	uint32_t all;

	if (!gt_start() || mixed || !bytes != !own.count || bytes > room)
		return 0;
	all = append(chain, bytes, room);
	for (uint32_t at = 0, length; at + sizeof(link) <= all; at += length) {
		struct gt_piece piece = { (char *)chain + at, 0 };

		memcpy(&link, piece.data, sizeof(link));
		if (link.count > KNOTS_MOST + 1)
			return 0;
		length = (uint32_t)(sizeof(link) + link.count * sizeof(*sync_points));
		if (length > all - at)
			return 0;
		piece.bytes = length;
		gt_journal_put(GT_D_CLOCK, 0, &piece, 1);
	}
	return all;
}
