/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Findings from the sums of a run, and summary.json.
 *
 * Limits: see brief.h. A rule that would gain less than GT_LEAST_GAIN of the run stays silent.
 */
#include "config.h"

#include "lib/assemble/report/brief.h"
#include "lib/assemble/archive/worker.h"
#include "lib/assemble/util/losses.h"
#include "lib/assemble/util/posix.h"
#include "lib/assemble/util/rules.h"

#include <inttypes.h>
#include <string.h>

enum { JSON_REGIONS = 50, MUCH_RECORDING = 10 /* percent */ };

/* ---- findings ------------------------------------------------------------------------------------ */

char *gt_brief_add(struct gt_summary *s, const char *id, uint64_t gain)
{
	struct gt_summary_finding *found = s->findings;
	unsigned at = s->finding_count;

	gain = gain < s->wall_ns ? gain : s->wall_ns;
	if (!gt_at_least(gain, GT_LEAST_GAIN, s->wall_ns))
		return NULL;
	while (at && found[at - 1].gain_ns < gain)
		at--;
	if (at == GT_SUMMARY_FINDINGS)
		return NULL;
	s->finding_count += s->finding_count < GT_SUMMARY_FINDINGS;
	memmove(&found[at + 1], &found[at], (s->finding_count - 1 - at) * sizeof(*found));
	found[at] = (struct gt_summary_finding){ .id = id, .gain_ns = gain };
	return found[at].text;
}

/* Ranks that wait for a processor look as if they worked. */
static const char *shared(const struct gt_summary *s, char text[96])
{
	const struct gt_used *used = &s->used;

	text[0] = '\0';
	if (used->measured && used->processors && used->processors < s->balance.ranks)
		snprintf(text, 96, " (%u ranks share %" PRIu64 " %s: it may only have waited for a core)",
			 s->balance.ranks, used->processors, used->processors == 1 ? "core" : "cores");
	return text;
}

static bool even(const struct gt_balance *b)
{
	return 100 * (double)b->mean_ns >= GT_EVEN_RANKS * (double)b->most_ns;
}

static void late_rank(struct gt_summary *s)
{
	const struct gt_balance *b = &s->balance;
	char most[32], mean[32], cores[96], *text;

	if (b->ranks < 2 || even(b))
		return;
	text = gt_brief_add(s, "late-rank", b->most_ns - b->mean_ns);
	if (text)
		snprintf(text, sizeof(s->findings->text), "rank %u works for %s outside of %s, the ranks on "
			 "average for %s: the others wait for it%s", b->most_rank,
			 gt_summary_time(most, b->most_ns), s->ranks_of, gt_summary_time(mean, b->mean_ns),
			 shared(s, cores));
}

static void polling(struct gt_summary *s)
{
	const struct gt_balance *b = &s->balance;
	uint64_t each = b->ranks ? b->polling_ns / b->ranks : 0;
	char *text;

	if (b->ranks < 2 || each < b->longest_ns / 100 * GT_MUCH_POLLING)
		return;
	text = gt_brief_add(s, "polling", each);
	if (text)
		snprintf(text, sizeof(s->findings->text), "%.0f %% of the ranks' time is spent testing for "
			 "messages that are not there yet", 100 * (double)each / (double)b->longest_ns);
}

uint64_t gt_brief_calls(const struct gt_summary *s, enum gt_call call, uint64_t *ns)
{
	uint64_t calls = 0;

	for (size_t i = 0; i < s->region_count; i++) {
		calls += s->regions[i].call == call ? s->regions[i].calls : 0;
		*ns += s->regions[i].call == call ? s->regions[i].exclusive_ns : 0;
	}
	return calls;
}

static void n_x_n(struct gt_summary *s)
{
	const struct gt_balance *b = &s->balance;
	uint64_t ns = 0, calls = gt_brief_calls(s, GT_CALL_COLLECTIVE, &ns) +
				 gt_brief_calls(s, GT_CALL_BARRIER, &ns);
	char count[32], each[32], cores[96], *text;

	if (b->ranks < 2 || !even(b) || calls < GT_SOME_COLLECTIVES * b->ranks ||
	    !gt_at_least(ns / b->ranks, GT_MUCH_COLLECTIVE, b->longest_ns))
		return;
	text = gt_brief_add(s, "n-x-n", ns / b->ranks);
	if (text)
		snprintf(text, sizeof(s->findings->text), "%.0f %% of the ranks' time is in collectives, %s "
			 "calls of %s on average, though the ranks have equal work%s",
			 100 * (double)ns / b->ranks / (double)b->longest_ns, gt_summary_count(count, calls),
			 gt_summary_time(each, ns / calls), shared(s, cores));
}

static uint64_t point_to_point(const struct gt_summary *s)
{
	uint64_t ns = 0;

	for (enum gt_call call = GT_CALL_SEND; call <= GT_CALL_WAIT; call++)
		gt_brief_calls(s, call, &ns);
	return ns;
}

static void tiny_messages(struct gt_summary *s)
{
	uint32_t ranks = s->balance.ranks;
	const struct gt_tally *of = s->tally;
	char tiny[32], all[32], size[32], time[32], *text;
	uint64_t ns, large;

	if (!of || ranks < 2 || of->tiny_sent < GT_MANY_MESSAGES * ranks ||
	    !gt_at_least(of->tiny_sent, GT_MOST_MESSAGES, of->sent))
		return;
	ns = point_to_point(s);
	large = (of->sent_bytes - of->tiny_bytes) * GT_NS_OF_BYTE;
	ns -= large < ns ? large : ns;
	text = gt_brief_add(s, "tiny-messages", ns / ranks);
	if (text)
		snprintf(text, sizeof(s->findings->text), "%s of %s messages are tiny, %s on average, and "
			 "each rank spends about %s sending and receiving them",
			 gt_summary_count(tiny, of->tiny_sent), gt_summary_count(all, of->sent),
			 gt_summary_size(size, of->tiny_bytes / of->tiny_sent),
			 gt_summary_time(time, ns / ranks));
}

/* What the measurement itself does: others may have waited for it. */
static void flushes(struct gt_summary *s)
{
	char time[32], *text = NULL;

	if (gt_at_least(s->location_flush_ns, GT_MUCH_FLUSH, s->wall_ns))
		text = gt_brief_add(s, "flushes", s->location_flush_ns);
	if (text)
		snprintf(text, sizeof(s->findings->text), "%s writes what it has recorded to the disk for "
			 "%s, which is the measurement's time and not the program's", s->flushed,
			 gt_summary_time(time, s->location_flush_ns));
}

static uint64_t cost_of(const struct gt_summary_region *region)
{
	return region->calls * (region->on_device ? GT_COST_OF_ACTIVITY
				: region->script  ? GT_COST_OF_SCRIPT
						  : GT_COST_OF_CALL);
}

/* All that is known of it; counters that are read with each call are not (gputrace-metrics(7)). */
static void measurement(struct gt_summary *s)
{
	uint64_t functions = 0;

	s->cost_ns = s->flush_ns + s->lost[GT_LOSS_FILTER] / 2 * GT_COST_FILTERED;
	for (size_t i = 0; i < s->region_count; i++) {
		s->cost_ns += cost_of(&s->regions[i]);
		functions += s->regions[i].function ? cost_of(&s->regions[i]) : 0;
	}
	s->floods = functions > s->threads_ns / 100 * MUCH_RECORDING;
}

static void costly_functions(struct gt_summary *s)
{
	const struct gt_summary_region *top = NULL;
	uint64_t calls = 0, functions = 0, ns = 0, cost = 0;
	char a[32], b[32], c[32], name[64], *text;

	for (size_t i = 0; i < s->region_count; i++) {
		const struct gt_summary_region *one = &s->regions[i];

		if (!one->function || one->calls < GT_MANY_CALLS ||
		    one->inclusive_ns / one->calls >= GT_SHORT_CALL)
			continue;
		calls += one->calls;
		ns += one->exclusive_ns;
		cost += cost_of(one);
		functions++;
		if (!top || one->calls > top->calls)
			top = one;
	}
	text = top ? gt_brief_add(s, "costly-function", cost) : NULL;
	s->floods |= text != NULL;
	if (text)
		snprintf(text, sizeof(s->findings->text),
			 "%s calls of %s%s take %s; recording them costs about %s",
			 gt_summary_count(a, calls), gt_summary_escape(name, sizeof(name), top->name, 40),
			 functions > 1 ? " and others" : "", gt_summary_time(b, ns),
			 gt_summary_time(c, cost));
}

static void thread_creation(struct gt_summary *s)
{
	for (size_t i = 0; i < s->region_count; i++) {
		const struct gt_summary_region *one = &s->regions[i];
		char count[32], time[32], *text;

		if (gt_posix_call(one->name) != GT_POSIX_CREATE || one->calls < GT_MANY_THREADS ||
		    s->made_ns / one->calls > GT_SHORT_LIFE)
			continue;
		text = gt_brief_add(s, "thread-creation", one->exclusive_ns);
		if (text)
			snprintf(text, sizeof(s->findings->text),
				 "%s threads are created, which takes %s: keep them (a pool)",
				 gt_summary_count(count, one->calls),
				 gt_summary_time(time, one->exclusive_ns));
	}
}

static void lock_convoy(struct gt_summary *s)
{
	const struct gt_worst *lock = s->tally ? &s->tally->lock : NULL;
	char count[32], each[32], all[32], name[64], *text = NULL;

	if (lock && lock->gain_ns && gt_at_least(lock->gain_ns, GT_CONVOY, s->wall_ns))
		text = gt_brief_add(s, "lock-convoy", lock->gain_ns);
	if (text)
		snprintf(text, sizeof(s->findings->text), "%u threads of %s wait %s times for the "
			 "lock at 0x%" PRIx64 ", %s on average, together %s", lock->threads,
			 gt_summary_escape(name, sizeof(name), lock->of, 40),
			 gt_summary_count(count, lock->count), lock->address,
			 gt_summary_time(each, lock->ns / lock->count), gt_summary_time(all, lock->ns));
}

static void tiny_writes(struct gt_summary *s)
{
	const struct gt_worst *file = s->tally ? &s->tally->file : NULL;
	char *text = file && file->gain_ns ? gt_brief_add(s, "tiny-writes", file->gain_ns) : NULL;
	char count[32], time[32], name[160];

	if (text)
		snprintf(text, sizeof(s->findings->text), "%s %s of %" PRIu64 " B on average take %s: %s",
			 gt_summary_count(count, file->count), file->write ? "writes" : "reads",
			 (file->bytes + file->count / 2) / file->count, gt_summary_time(time, file->ns),
			 gt_summary_escape(name, sizeof(name), file->of, 100));
}

void gt_brief(struct gt_summary *s)
{
	measurement(s);
	if (!s->wall_ns)
		return;
	late_rank(s);
	n_x_n(s);
	tiny_messages(s);
	polling(s);
	flushes(s);
	costly_functions(s);
	thread_creation(s);
	lock_convoy(s);
	tiny_writes(s);
}

/* ---- JSON ---------------------------------------------------------------------------------------- */

/* What a terminal shows harmlessly is UTF-8 without control characters. */
static void put_text(FILE *out, const char *key, const char *text)
{
	char plain[1024];

	gt_summary_escape(plain, sizeof(plain), text, sizeof(plain) - 1);
	fprintf(out, "\"%s\":\"", key);
	for (const char *c = plain; *c; c++)
		fprintf(out, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
	fputc('"', out);
}

static void put_seconds(FILE *out, const char *key, uint64_t ns)
{
	fprintf(out, "\"%s\":%" PRIu64 ".%09" PRIu64, key, ns / 1000000000, ns % 1000000000);
}

static void put_efficiencies(const struct gt_summary *s, FILE *out)
{
	const struct {
		const char *key;
		double value;
	} all[] = {
		{ "parallel_efficiency", gt_summary_parallel(s) },
		{ "load_balance", s->load_balance },
		{ "communication_efficiency", s->communication },
		{ "thread_efficiency", s->rank_threads },
		{ "offload_efficiency", s->offload },
		{ "device_parallel_efficiency", s->device_parallel },
		{ "device_load_balance", s->device_balance },
		{ "device_copy_efficiency", s->device_copies },
		{ "device_orchestration_efficiency", s->device_orchestration },
	};
	const char *between = "";

	fputs(",\n\"efficiencies\":{", out);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (all[i].value <= 0)
			continue;
		fprintf(out, "%s\"%s\":%.4f", between, all[i].key, all[i].value);
		between = ",";
	}
	if (s->no_efficiency) {
		fputs(between, out);
		put_text(out, "left_out", s->no_efficiency);
	}
	fputc('}', out);
}

static void put_regions(const struct gt_summary *s, FILE *out)
{
	const struct gt_summary_region *top[JSON_REGIONS];
	unsigned n = gt_summary_top(s, top, JSON_REGIONS);

	fputs(",\n\"regions\":[", out);
	for (unsigned i = 0; i < n; i++) {
		fputs(i ? ",\n{" : "\n{", out);
		put_text(out, "name", top[i]->name);
		fprintf(out, ",\"count\":%" PRIu64 ",", top[i]->calls);
		put_seconds(out, "inclusive_s", top[i]->inclusive_ns);
		fputc(',', out);
		put_seconds(out, "exclusive_s", top[i]->exclusive_ns);
		fputc(',', out);
		if (top[i]->idle_ns)
			put_seconds(out, "idle_s", top[i]->idle_ns);
		else
			fputs("\"idle_s\":null", out);
		if (gt_summary_share(s, top[i]) >= 0)
			fprintf(out, ",\"share\":%.6f}", gt_summary_share(s, top[i]));
		else
			fputs(",\"share\":null}", out);
	}
	fputc(']', out);
}

static void put_copies(const struct gt_summary *s, FILE *out)
{
	fputs(",\n\"copies\":[", out);
	for (unsigned i = 0; s->tally && i < GT_DIRECTIONS && s->tally->copied[i].count; i++) {
		const struct gt_copied *one = &s->tally->copied[i];

		fputs(i ? ",{" : "{", out);
		put_text(out, "direction", one->direction);
		fprintf(out, ",\"count\":%" PRIu64 ",\"bytes\":%" PRIu64 "}", one->count, one->bytes);
	}
	fputc(']', out);
}

static void put_findings(const struct gt_summary *s, FILE *out)
{
	fputs(",\n\"findings\":[", out);
	for (unsigned i = 0; i < s->finding_count; i++) {
		fputs(i ? ",\n{" : "\n{", out);
		put_text(out, "id", s->findings[i].id);
		fputc(',', out);
		put_seconds(out, "seconds", s->findings[i].gain_ns);
		fputc(',', out);
		put_text(out, "text", s->findings[i].text);
		fputc('}', out);
	}
	fputc(']', out);
}

/* count 0: `first` has the words. */
static void put_shortfall(FILE *out, const struct gt_shortfall *what, uint64_t count, const char *first,
			  const char *between)
{
	char text[640];

	fputs(between, out);
	if (count)
		fprintf(out, "{\"count\":%" PRIu64 ",", count);
	else
		fputs("{\"count\":null,", out);
	put_text(out, "text", gt_shortfall_text(what, count, first, text, sizeof(text)));
	fputc(',', out);
	put_text(out, "property", what->property);
	fputc('}', out);
}

static void put_shortfalls(const struct gt_summary *s, FILE *out)
{
	const char *between = "\n";

	fputs("],\"shortfalls\":[", out);
	if (s->absent && *s->absent) {
		put_shortfall(out, gt_shortfall_find("ABSENT"), 0, s->absent, between);
		between = ",\n";
	}
	if (s->missing && *s->missing) {
		put_shortfall(out, gt_shortfall_find("RANKS_MISSING"), 0, s->missing, between);
		between = ",\n";
	}
	for (unsigned i = 0; i < s->shortfall_count; i++) {
		const struct gt_summary_shortfall *one = &s->shortfalls[i];

		put_shortfall(out, one->what, one->count, *one->first ? one->first : NULL, between);
		between = ",\n";
	}
	fputc(']', out);
}

static void put_losses(const struct gt_summary *s, FILE *out)
{
	uint64_t events = s->unknown_records, left_out = 0;
	const char *between = "\n";

	for (unsigned i = 0; i < GT_LOSS_N; i++)
		*(gt_loss_real(i) ? &events : &left_out) += s->lost[i];
	fprintf(out,
		",\n\"losses\":{\"events\":%" PRIu64 ",\"events_left_out\":%" PRIu64 ",\"flushes\":%" PRIu64
		",",
		events, left_out, s->flushes);
	put_seconds(out, "flush_s", s->flush_ns);
	fputs(",\"causes\":[", out);
	for (unsigned i = 0; i < GT_LOSS_N; i++) {
		if (!s->lost[i] || !gt_loss_name(i))
			continue;
		fprintf(out, "%s{\"cause\":\"%s\",\"events\":%" PRIu64 "}", between, gt_loss_name(i),
			s->lost[i]);
		between = ",\n";
	}
	put_shortfalls(s, out);
	fputs("}", out);
}

void gt_brief_json(const struct gt_summary *s, FILE *out)
{
	fputc('{', out);
	put_text(out, "program", s->program ? s->program : "");
	fputc(',', out);
	put_seconds(out, "duration_s", s->wall_ns);
	fprintf(out,
		",\"processes\":%" PRIu64 ",\"ranks\":%" PRIu64 ",\"threads\":%" PRIu64
		",\"streams\":%" PRIu64 ",\n\"events\":%" PRIu64 ",\"archive_bytes\":%" PRIu64,
		s->processes, s->ranks, s->threads, s->gpu_streams, s->events, s->archive_bytes);
	if (s->used.measured && !s->used.unmeasured) {
		fputc(',', out);
		put_seconds(out, "processor_s", s->used.processor_ns);
		fprintf(out, ",\"processors\":%" PRIu64 ",\"memory_peak_bytes\":%" PRIu64, s->used.processors,
			s->used.memory_peak);
	}
	fputc(',', out);
	put_seconds(out, "measurement_s", s->cost_ns);
	fputc(',', out);
	put_seconds(out, "unseen_s", s->unseen_ns);
	put_efficiencies(s, out);
	put_regions(s, out);
	fprintf(out, ",\n\"messages\":{\"count\":%" PRIu64 ",\"bytes\":%" PRIu64 "}", s->messages,
		s->message_bytes);
	put_copies(s, out);
	put_findings(s, out);
	put_losses(s, out);
	fputs("}\n", out);
}
