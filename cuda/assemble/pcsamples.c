/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PC samples, or counts of instructions: summed up for each process and written to
 * DIR/gpu/pcsamples.<process> or DIR/gpu/sass.<process>, lines of text (doc/cuda.md has the format;
 * report/source/samples.c reads it), and the cubins that they are of to DIR/gpu/<crc>.cubin. In counts, a
 * "reason" is the number of a metric.
 *
 * Everything is read before the events are converted, because the spool is freed then.
 *
 * Limits: ROWS different sums in memory; if there are more, launches are no longer told apart (the line
 * "merged" says so).
 */
#include "config.h"

#include "cuda/assemble/pcsamples.h"

#include "lib/assemble/assembly.h"
#include "lib/assemble/util/io.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROWS    (4u << 20)
#define REASONS 64u

/* Samples of one instruction with one stall reason. Sorted by all but the last. */
struct row {
	uint64_t crc, offset;
	uint32_t function, name, context, period, correlation, reason;
	uint32_t own; /* counts: the name, for CUPTI 13.0 has 0 as the function of all of a cubin */
	uint64_t samples;
};

struct cubin {
	uint64_t crc, bytes, got;
	char part[64];
	bool used;
};

struct totals {
	const struct gt_proc *proc;
	uint64_t samples, dropped, foreign, lost; /* lost: how often CUPTI's buffer was full, or taken away */
	struct totals *next;
};

struct collection {
	const struct gt_assembler *self;
	const struct gt_proc *proc;
	struct totals *totals;
	int folder;                /* DIR/gpu */
	struct row *rows;
	size_t count, room, sorted;
	bool merged, sass;
	uint32_t reasons[REASONS]; /* names */
	uint32_t contexts[256][2]; /* and their devices */
	unsigned context_count;
	struct cubin *cubins;
	size_t cubin_count;
	int fd;                    /* of the cubin that is being written, `open` */
	size_t open;
	int rc;
};

/* ---- rows ---------------------------------------------------------------------------------------- */

static int compare(const void *va, const void *vb)
{
	const struct row *a = va, *b = vb;

#define BY(member) if (a->member != b->member) return a->member < b->member ? -1 : 1
	BY(crc);
	BY(function);
	BY(own);
	BY(offset);
	BY(context);
	BY(period);
	BY(correlation);
	BY(reason);
#undef BY
	return 0;
}

/* Equal ones become one. */
static void compact(struct collection *c)
{
	size_t kept = 0;

	if (c->count)
		qsort(c->rows, c->count, sizeof(*c->rows), compare);
	for (size_t i = 0; i < c->count; i++) {
		if (kept && !compare(&c->rows[kept - 1], &c->rows[i]))
			c->rows[kept - 1].samples += c->rows[i].samples;
		else
			c->rows[kept++] = c->rows[i];
	}
	c->count = kept;
}

static bool make_room(struct collection *c)
{
	struct row *rows;
	size_t room;

	if (c->count < c->room)
		return true;
	compact(c);
	if (c->count > ROWS / 2 && !c->merged) {
		c->merged = true;
		for (size_t i = 0; i < c->count; i++)
			c->rows[i].correlation = 0;
		compact(c);
	}
	if (c->count < c->room / 2)
		return true;
	room = c->room ? 2 * c->room : 4096;
	rows = realloc(c->rows, room * sizeof(*rows));
	if (!rows)
		return false;
	c->rows = rows;
	c->room = room;
	return true;
}

static int add_pc(struct collection *c, const uint64_t *data, unsigned words)
{
	for (unsigned i = 4; i < words; i++) {
		if (!(uint32_t)data[i])
			continue;
		if (!make_room(c))
			return -ENOMEM;
		c->rows[c->count++] = (struct row){
			.crc = data[0], .offset = data[1], .function = (uint32_t)(data[2] >> 32),
			.name = (uint32_t)data[2], .context = (uint32_t)data[3] >> 8,
			.period = data[3] & 0xff,
			.correlation = c->merged ? 0 : (uint32_t)(data[3] >> 32),
			.reason = (uint32_t)(data[i] >> 32), .samples = (uint32_t)data[i],
		};
	}
	return 0;
}

static int add_count(struct collection *c, const uint64_t *data)
{
	if (data[4] >= REASONS)
		return 0;
	if (!make_room(c))
		return -ENOMEM;
	c->rows[c->count++] = (struct row){
		.crc = data[0], .offset = data[1], .function = (uint32_t)(data[2] >> 32),
		.name = (uint32_t)data[2], .context = (uint32_t)(data[3] >> 32), .reason = (uint32_t)data[4],
		.samples = data[5], .own = (uint32_t)data[2],
	};
	return 0;
}

static void add_drain(struct collection *c, const uint64_t *data)
{
	uint32_t context = (uint32_t)(data[3] >> 32) & 0xffffff, device = (uint32_t)data[3];
	unsigned i = 0;

	c->totals->samples += data[0];
	c->totals->dropped += data[1];
	c->totals->foreign += data[2];
	c->totals->lost += data[4] >> 8 & 1;
	while (i < c->context_count && c->contexts[i][0] != context)
		i++;
	if (i == c->context_count && i < 256) {
		c->contexts[i][0] = context;
		c->contexts[i][1] = device;
		c->context_count++;
	}
}

/* ---- cubins -------------------------------------------------------------------------------------- */

static struct cubin *open_cubin(struct collection *c, uint64_t crc, uint64_t bytes)
{
	struct cubin *more;

	if (c->fd >= 0 && c->cubins[c->open].crc == crc)
		return &c->cubins[c->open];
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
	more = realloc(c->cubins, (c->cubin_count + 1) * sizeof(*more));
	if (!more)
		return NULL;
	c->cubins = more;
	c->open = c->cubin_count;
	more = &c->cubins[c->open];
	*more = (struct cubin){ .crc = crc, .bytes = bytes };
	snprintf(more->part, sizeof(more->part), ".%" PRIx64 ".%d", crc, (int)getpid());
	c->fd = openat(c->folder, more->part, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (c->fd < 0)
		return NULL;
	c->cubin_count++;
	return more;
}

static int add_cubin(struct collection *c, const uint64_t *data, unsigned words)
{
	struct cubin *cubin = open_cubin(c, data[0], data[1]);

	if (!cubin)
		return errno ? -errno : -ENOMEM;
	if (data[3] > (words - 4) * sizeof(*data) || data[2] != cubin->got)
		return 0; /* a part is missing: it will not be complete */
	cubin->got += data[3];
	return gt_write_all(c->fd, data + 4, data[3]);
}

static void keep_cubins(struct collection *c)
{
	char name[64];

	if (c->fd >= 0)
		close(c->fd);
	for (size_t i = 0; i < c->cubin_count; i++) {
		const struct cubin *cubin = &c->cubins[i];

		snprintf(name, sizeof(name), "%016" PRIx64 ".cubin", cubin->crc);
		if (!cubin->used || cubin->got != cubin->bytes ||
		    renameat(c->folder, cubin->part, c->folder, name))
			unlinkat(c->folder, cubin->part, 0);
	}
	free(c->cubins);
}

/* ---- the file ------------------------------------------------------------------------------------ */

static void put_text(FILE *out, const char *text)
{
	for (; text && *text; text++) {
		unsigned char byte = (unsigned char)*text;

		if (byte <= ' ' || byte == '\\' || byte == 0x7f)
			fprintf(out, "\\x%02x", byte);
		else
			fputc(byte, out);
	}
}

static void put_head(struct collection *c, FILE *out)
{
	struct gt_process_info info = { .bytes = sizeof(info) };

	gt_read_process_info(c->proc, &info);
	fprintf(out, "gputrace-%s 1\nprocess %u %d ", c->sass ? "sass" : "pcsamples", info.pid,
		info.rank == UINT32_MAX ? -1 : (int)info.rank);
	put_text(out, info.host && *info.host ? info.host : "-");
	fputc(' ', out);
	put_text(out, info.program && *info.program ? info.program : "-");
	fprintf(out, "\n%s ", c->sass ? "counting" : "sampling");
	put_text(out, gt_read_property(c->proc, c->sass ? "cuda:sass" : "cuda:pc_sampling"));
	fputc('\n', out);
	if (!c->sass)
		fprintf(out, "total %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", c->totals->samples,
			c->totals->dropped, c->totals->foreign, c->totals->lost);
	if (c->merged)
		fprintf(out, "merged\n");
	for (unsigned i = 0; i < c->context_count; i++) {
		char key[32];

		snprintf(key, sizeof(key), "cuda:device %u", c->contexts[i][1]);
		fprintf(out, "context %u %u ", c->contexts[i][0], c->contexts[i][1]);
		put_text(out, gt_read_property(c->proc, key));
		fputc('\n', out);
	}
	for (unsigned i = 0; i < REASONS; i++)
		if (c->reasons[i]) {
			fprintf(out, "%s %u ", c->sass ? "metric" : "reason", i);
			put_text(out, gt_read_string(c->proc, c->reasons[i]));
			fputc('\n', out);
		}
}

static void put_rows(struct collection *c, FILE *out)
{
	const struct row *last = NULL;

	for (size_t i = 0; i < c->count; last = &c->rows[i++]) {
		const struct row *r = &c->rows[i];
		bool function = !last || last->crc != r->crc || last->function != r->function ||
				last->own != r->own;

		if (function) {
			fprintf(out, "%sfunction %016" PRIx64 " %u ", last ? "\n" : "", r->crc, r->function);
			put_text(out, gt_read_string(c->proc, r->name));
		}
		if (function || last->offset != r->offset || last->context != r->context ||
		    last->period != r->period || last->correlation != r->correlation) {
			fprintf(out, "\n%s %" PRIx64 " %u", c->sass ? "sass" : "pc", r->offset, r->context);
			if (!c->sass)
				fprintf(out, " %u %u", r->period, r->correlation);
		}
		fprintf(out, " %u:%" PRIu64, r->reason, r->samples);
		for (size_t k = 0; function && k < c->cubin_count; k++)
			c->cubins[k].used |= c->cubins[k].crc == r->crc;
	}
	if (last)
		fputc('\n', out);
}

static int write_file(struct collection *c)
{
	const struct gt_proc *proc = c->proc;
	const char *home = proc->root->name;
	char name[256], part[264];
	int fd, rc;
	FILE *out;

	snprintf(name, sizeof(name), "%s.%s%s%s", c->sass ? "sass" : "pcsamples", home, *home ? "." : "",
		 proc->folder);
	snprintf(part, sizeof(part), ".%s", name);
	fd = openat(c->folder, part, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	out = fd < 0 ? NULL : fdopen(fd, "w");
	if (!out) {
		rc = -errno;
		if (fd >= 0)
			close(fd);
		return rc;
	}
	compact(c);
	put_head(c, out);
	put_rows(c, out);
	rc = ferror(out) ? -EIO : 0;
	if (fclose(out) && !rc)
		rc = -errno;
	if (!rc && renameat(c->folder, part, c->folder, name))
		rc = -errno;
	if (rc)
		unlinkat(c->folder, part, 0);
	return rc;
}

/* ---- reading the spool --------------------------------------------------------------------------- */

static bool is(const struct collection *c, const struct gt_slot *slot, const char *name)
{
	return gt_read_is_own(c->proc, slot, c->self, name);
}

static int read_record(void *context, const struct gt_loc *loc, const struct gt_slot *slot)
{
	struct collection *c = context;
	const uint64_t *data = &slot[1].time;
	unsigned words = 2 * GT_WORD_EXTRA(slot->word);
	int rc = 0;

	(void)loc;
	if (GT_WORD_TYPE(slot->word) != GT_T_OWN)
		return 0;
	if (words >= 6 && is(c, slot, "pc"))
		rc = add_pc(c, data, words);
	else if (words >= 6 && is(c, slot, "pc_drain"))
		add_drain(c, data);
	else if (words >= 4 && is(c, slot, "cubin"))
		rc = add_cubin(c, data, words);
	else if (words >= 6 && is(c, slot, "sass"))
		rc = add_count(c, data);
	else if (words >= 2 && data[0] < REASONS &&
		 (is(c, slot, "pc_reason") || is(c, slot, "sass_metric")))
		c->reasons[data[0]] = (uint32_t)data[1];
	if (rc)
		c->rc = rc;
	return rc;
}

static int collect(struct gt_assembly *a, struct collection *c)
{
	const struct gt_loc *loc;
	int rc = 0;

	if (mkdirat(a->dirfd, "gpu", 0700) && errno != EEXIST)
		return -errno;
	c->folder = gt_folder_open(a->dirfd, "gpu");
	if (c->folder < 0)
		return c->folder;
	for (size_t n = 0; !rc && (loc = gt_read_location(c->proc, n)); n++) {
		struct gt_loc_info info = { .bytes = sizeof(info) };

		gt_read_location_info(loc, &info);
		if (info.kind == GT_LOC_METRIC)
			rc = gt_read_records(loc, read_record, c);
	}
	if (!rc)
		rc = write_file(c);
	keep_cubins(c);
	close(c->folder);
	return rc;
}

static bool has_unfetched(const struct gt_proc *proc)
{
	const char *contexts = gt_read_property(proc, "cuda:sass_unfetched");

	return contexts && strcmp(contexts, "0");
}

/* One process. Its totals are kept for its properties. */
static int scan_one(struct gt_assembly *a, const struct gt_assembler *self, const struct gt_proc *proc,
		    struct totals ***last)
{
	struct collection c = { .self = self, .proc = proc, .fd = -1 };
	int rc;

	c.sass = gt_read_property(proc, "cuda:sass");
	if (!c.sass && !gt_read_property(proc, "cuda:pc_sampling"))
		return 0;
	c.totals = calloc(1, sizeof(*c.totals));
	if (!c.totals)
		return -ENOMEM;
	c.totals->proc = c.sass ? NULL : proc; /* counts have none */
	**last = c.totals;
	*last = &c.totals->next;
	rc = collect(a, &c);
	free(c.rows);
	if (rc)
		gt_assembly_say(a, 0, "%s of process %u cannot be kept: %s",
				c.sass ? "SASS metrics" : "PC samples", proc->pid, strerror(-rc));
	if (c.sass && has_unfetched(proc))
		gt_assembly_say(a, 0, "SASS metrics: process %u ended before counts of %s of its contexts "
				"were fetched: they are missing", proc->pid,
				gt_read_property(proc, "cuda:sass_unfetched"));
	return 0;
}

int gt_pcsamples_scan(struct gt_assembly *a, const struct gt_assembler *self)
{
	struct totals **last = (struct totals **)gt_state(a, self);
	const struct gt_proc *proc;
	int rc = 0;

	for (size_t n = 0; !rc && (proc = gt_read_process(a, n)); n++)
		rc = scan_one(a, self, proc, &last);
	return rc;
}

void gt_pcsamples_end(struct gt_assembly *a, const struct gt_assembler *self)
{
	struct totals *t = *gt_state(a, self), *next;

	for (; t; t = next) {
		next = t->next;
		free(t);
	}
	*gt_state(a, self) = NULL;
}

/* ---- in OTF2 ------------------------------------------------------------------------------------- */

static void property(struct gt_assembly *a, const struct gt_proc *proc, const char *name, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	gt_out_property(a, proc, name, text);
}

void gt_pcsamples_properties(struct gt_assembly *a, const struct gt_proc *proc,
			     const struct gt_assembler *self)
{
	const struct totals *t = *gt_state(a, self);

	while (t && t->proc != proc)
		t = t->next;
	if (!t)
		return;
	property(a, proc, "CUDA_PC_SAMPLES", t->samples);
	property(a, proc, "CUDA_PC_SAMPLES_DROPPED", t->dropped);
	property(a, proc, "CUDA_PC_SAMPLES_OF_OTHERS", t->foreign);
	property(a, proc, "CUDA_PC_SAMPLING_INTERRUPTED", t->lost);
}

void gt_pcsamples_drain(struct gt_track *t, const struct gt_slot *slot, uint64_t tick)
{
	const uint64_t *data = &slot[1].time;

	gt_write_metric(t, gt_track_metric(t, (gt_ref)(data[5] >> 32)), GT_VALUE_UINT,
			data[0] - data[1] - data[2], tick);
	gt_write_metric(t, gt_track_metric(t, (gt_ref)data[5]), GT_VALUE_UINT, data[1], tick);
}

void gt_pcsamples_none(struct gt_track *t, const struct gt_slot *slot, uint64_t tick)
{
	(void)t;
	(void)slot;
	(void)tick;
}
