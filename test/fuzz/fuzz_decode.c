/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libFuzzer target: the decoder of OTF2's events on any chunk: it reads nothing but this and the 256 bytes
 * behind it, and finds an end.
 *
 * test/fuzz/run 60 decode
 *
 * Limits: one chunk, no definitions. That it says what libotf2 says is seen by test/check/decode.test.
 *
 * fuzz-sources: lib/read/base.c lib/read/comm.c lib/read/decode.c lib/read/events.c
 * fuzz-sources: lib/assemble/util/lookup.c lib/assemble/util/memory.c
 * fuzz-flags: -lopen-trace-format2
 */
#include <stdlib.h>
#include <string.h>

#include "lib/read/read_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

const char *const gt_otf2_kind_names[GT_OTF2_KINDS];

/* Every byte of lists is looked at. */
static void event(struct gt_otf2_cursor *at, const struct gt_otf2_event *e)
{
	volatile uint64_t sum = 0;

	if (e->type == GT_OTF2_Metric)
		for (unsigned i = 0; i < e->Metric.count; i++)
			sum += e->Metric.types[i] + e->Metric.values[i].unsigned_int;
	if (e->type == GT_OTF2_ProgramBegin)
		for (unsigned i = 0; i < e->ProgramBegin.count; i++)
			sum += e->ProgramBegin.arguments[i];
	(void)at;
}

static void fault(void *user, struct gt_otf2_cursor *at, enum gt_otf2_fault what, const char *format,
		  va_list args)
{
	(void)user, (void)at, (void)what, (void)format, (void)args;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const unsigned char header[18] = { 3, 'B' };
	static const struct gt_otf2_visitor visitor = { .event = event, .fault = fault };
	struct gt_otf2_decoder *decoder = gt_otf2_decoder_new();
	struct gt_otf2 *read = calloc(1, sizeof(*read));
	struct gt_otf2_cursor at = { .read = read, .visitor = &visitor };
	unsigned char *chunk = malloc(sizeof(header) + size + 256);
	bool last;

	read->options.visitor = &visitor;
	read->factor = 1;
	for (int kind = 0; kind < GT_OTF2_KINDS; kind++)
		read->tables[kind].dense = true;
	memcpy(chunk, header, sizeof(header));
	if (size)
		memcpy(chunk + sizeof(header), data, size);
	memset(chunk + sizeof(header) + size, 0, 256);
	gt_otf2_decode_chunk(decoder, &at, chunk, sizeof(header) + size, &last);
	gt_otf2_decoder_free(decoder);
	free(at.stack);
	free(chunk);
	free(read);
	return 0;
}
