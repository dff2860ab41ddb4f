/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Activity buffers: CUPTI asks for one on the program's threads, and gives it back full on a thread of
 * its own; there it is only put into a queue.
 *
 * Limits: no lock, no malloc: buffers come from mmap and are kept. At most SLOTS are out at once;
 * then a CUPTI that can bear it (12.9) gets none and drops records, which it counts; an older one gets
 * a scratch buffer that nobody reads, counted here.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "cuda/cuda.h"
#include "accel/wait.h"
#include "gputrace/syscall.h"

#define SLOTS 1024u
#define CAN_DO_WITHOUT 28u /* cuptiGetVersion() of CUDA 12.9 */

enum { NEW = 0, FREE, OUT, FULL }; /* NEW: whoever made the slot has it */

static struct buffer {
	uint8_t *memory;
	size_t valid;
	uint32_t state; /* atomic */
	uint32_t next;  /* 1 + index of the one that was completed before */
} buffers[SLOTS];
static uint32_t made;          /* atomic: slots below may have memory */
static uint32_t hint;
static uint32_t completed;     /* atomic: 1 + index of the newest in the stack, 0: none */
static uint32_t todo;          /* of the reading thread: the same stack, turned round */
static uint8_t *scratch;       /* atomic */

uint32_t gt_cu_buffers_event;

static uint8_t *map(void)
{
	return gt_is_confined() ? NULL : gt_raw_memory(gt_cu_options.buffer_bytes, MAP_PRIVATE);
}

static uint8_t *own_scratch(void)
{
	uint8_t *expected = __atomic_load_n(&scratch, __ATOMIC_ACQUIRE), *fresh = expected ? NULL : map();

	/* Pairs with the acquire in this function. */
	if (fresh && !__atomic_compare_exchange_n(&scratch, &expected, fresh, false, __ATOMIC_ACQ_REL,
						  __ATOMIC_ACQUIRE))
		gt_raw(SYS_munmap, fresh, gt_cu_options.buffer_bytes);
	return __atomic_load_n(&scratch, __ATOMIC_ACQUIRE);
}

void gt_cu_buffers_still(void)
{
	if (gt_cu_version < CAN_DO_WITHOUT)
		own_scratch();
}

static struct buffer *take(void)
{
	uint32_t n = __atomic_load_n(&made, __ATOMIC_ACQUIRE);
	uint32_t first = __atomic_load_n(&hint, __ATOMIC_RELAXED);

	for (uint32_t i = 0; i < n; i++) {
		struct buffer *b = &buffers[(first + i) % n];
		uint32_t expected = FREE;

		if (__atomic_load_n(&b->state, __ATOMIC_RELAXED) == FREE &&
		    __atomic_compare_exchange_n(&b->state, &expected, OUT, false, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return b;
	}
	while (n < SLOTS) {
		struct buffer *b = &buffers[n];

		/* Pairs with find(). */
		if (!__atomic_compare_exchange_n(&made, &n, n + 1, false, __ATOMIC_ACQ_REL,
						 __ATOMIC_ACQUIRE))
			continue; /* another thread took this one; n is the new number */
		__atomic_store_n(&b->state, OUT, __ATOMIC_RELAXED);
		return b;
	}
	return NULL;
}

void gt_cu_buffer_request(uint8_t **buffer, size_t *size, size_t *records)
{
	struct buffer *b = take();

	*records = 0;
	*buffer = NULL;
	if (b && !b->memory)
		b->memory = map();
	if (b && b->memory) {
		*buffer = b->memory;
		*size = gt_cu_options.buffer_bytes;
		return;
	}
	if (b)
		__atomic_store_n(&b->state, FREE, __ATOMIC_RELEASE); /* pairs with take() */
	gt_cu_count_shared(&gt_cu_counts.refused, 1);
	*size = 0;
	if (gt_cu_version >= CAN_DO_WITHOUT)
		return;
	*buffer = own_scratch();
	*size = *buffer ? gt_cu_options.buffer_bytes : 0;
}

static struct buffer *find(const uint8_t *memory)
{
	uint32_t n = __atomic_load_n(&made, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < n; i++)
		if (buffers[i].memory == memory)
			return &buffers[i];
	return NULL;
}

/*
 * CUPTI gives buffers back on a thread of its own, which the other adapters would show with all its
 * waiting. An older CUPTI may do it on a thread of the program: those have made calls.
 */
static void hide_thread(void)
{
	static GT_TLS bool hidden;

	if (hidden || gt_cu_calls_own_thread())
		return;
	hidden = true;
	gt_guard();
}

void gt_cu_buffers_wake(void)
{
	int saved = errno;

	gt_accel_wake(&gt_cu_buffers_event);
	errno = saved;
}

void gt_cu_buffer_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	struct buffer *b = buffer ? find(buffer) : NULL;
	uint32_t old, expected = OUT;

	hide_thread();
	(void)context;
	(void)stream;
	(void)size;
	/* One that is not out came back twice; in the stack twice, it would make that a ring. */
	if (!b || !__atomic_compare_exchange_n(&b->state, &expected, FULL, false, __ATOMIC_RELAXED,
					       __ATOMIC_RELAXED)) {
		if (buffer && valid)
			gt_cu_count_shared(&gt_cu_counts.scratch, 1);
		return;
	}
	b->valid = valid < gt_cu_options.buffer_bytes ? valid : gt_cu_options.buffer_bytes;
	old = __atomic_load_n(&completed, __ATOMIC_RELAXED);
	do {
		b->next = old;
	/* Pairs with gt_cu_buffers_take(). */
	} while (!__atomic_compare_exchange_n(&completed, &old, (uint32_t)(b - buffers) + 1, false,
					      __ATOMIC_RELEASE, __ATOMIC_RELAXED));
	gt_cu_buffers_wake();
}

void gt_cu_buffers_take(void)
{
	uint32_t at = __atomic_exchange_n(&completed, 0, __ATOMIC_ACQUIRE);

	while (at) { /* the newest is on top: turn the stack round */
		uint32_t next = buffers[at - 1].next;

		buffers[at - 1].next = todo;
		todo = at;
		at = next;
	}
}

uint8_t *gt_cu_buffer_next(size_t *valid)
{
	struct buffer *b;

	if (!todo)
		return NULL;
	b = &buffers[todo - 1];
	todo = b->next;
	*valid = b->valid;
	return b->memory;
}

void gt_cu_buffer_free(uint8_t *memory)
{
	struct buffer *b = find(memory);

	if (!b)
		return;
	memset(memory, 0, b->valid); /* CUPTI was told that it gets zeroed buffers */
	__atomic_store_n(&hint, (uint32_t)(b - buffers), __ATOMIC_RELAXED);
	__atomic_store_n(&b->state, FREE, __ATOMIC_RELEASE); /* pairs with take() */
}
