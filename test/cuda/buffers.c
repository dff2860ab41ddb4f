/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Activity buffers between threads: two that ask at the same moment get different ones, and one that
 * comes back twice is read once.
 * Limits: the other thread is played where it hurts most, right after the number of slots was raised.
 */
#include <stdio.h>

static void other_thread(const void *word);
static int answer; /* of the real exchange; the other thread has answers of its own */
#define __atomic_compare_exchange_n(word, expected, value, weak, good, bad)                         \
	(answer = __atomic_compare_exchange_n(word, expected, value, weak, good, bad),             \
	 other_thread(word), answer)
#include "cuda/buffers.c"

struct gt_cu_options gt_cu_options = { .buffer_bytes = 65536 };
struct gt_cu_counts gt_cu_counts;
uint32_t gt_cu_version = 26;
static uint8_t *other;
static int asked;

bool gt_cu_calls_own_thread(void)
{
	return true;
}

void gt_guard(void)
{
}

bool gt_is_confined(void)
{
	return false;
}

static void other_thread(const void *word)
{
	int kept = answer;
	size_t size, records;

	if (word == &made && !asked++)
		gt_cu_buffer_request(&other, &size, &records);
	answer = kept;
}

int main(void)
{
	size_t size, records, valid;
	unsigned times = 0;
	uint8_t *own;

	gt_cu_buffer_request(&own, &size, &records);
	printf("%s buffers\n", own && other && own != other ? "different" : "the same");
	gt_cu_buffer_complete(NULL, 0, own, size, 64);
	gt_cu_buffer_complete(NULL, 0, own, size, 64);
	gt_cu_buffers_take();
	gt_cu_buffer_complete(NULL, 0, other, size, 64); /* is for the next round */
	while (times < 10 && gt_cu_buffer_next(&valid))
		times++;
	printf("read %u times, %d not taken\n", times, (int)gt_cu_counts.scratch);
	gt_cu_buffers_take();
	printf("then %s\n", gt_cu_buffer_next(&valid) == other ? "the other" : "none");
	return 0;
}
