/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * VT_CUPTI_CAPTURE: keeps what CUPTI delivers (capture.h).
 *
 * Limits: a piece is written with one call, which the kernel appends as a whole; what cannot be
 * written ends the capture with one sentence.
 */
#include "cuda/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "cuda/cuda.h"
#include "gputrace/syscall.h"

#define KINDS   128u
#define STRINGS 4096u

static int fd = -1;
static uint32_t sizes[KINDS];
static const char *known[STRINGS]; /* addresses whose text is in the file */

static void put(unsigned type, const void *a, size_t a_bytes, const void *b, size_t b_bytes)
{
	struct gt_cap_piece piece = { type, (uint32_t)(a_bytes + b_bytes) };
	struct iovec parts[3] = {
		{ &piece, sizeof(piece) }, { (void *)(uintptr_t)a, a_bytes },
		{ (void *)(uintptr_t)b, b_bytes },
	};
	ssize_t want = (ssize_t)(sizeof(piece) + a_bytes + b_bytes);
	int file = __atomic_load_n(&fd, __ATOMIC_RELAXED);

	if (file < 0 || gt_is_confined() || gt_raw(SYS_writev, file, parts, 3) == want)
		return;
	__atomic_store_n(&fd, -1, __ATOMIC_RELAXED);
	gt_message(1, "VT_CUPTI_CAPTURE: a write failed; the capture ends here");
}

void gt_cu_capture_open(void)
{
	struct gt_cap_header header = { GT_CAP_MAGIC, gt_cu_version, 0 };
	char path[4300];

	if (!gt_cu_options.capture)
		return;
	gt_raw(SYS_mkdirat, AT_FDCWD, gt_cu_options.capture, 0700);
	snprintf(path, sizeof(path), "%s/cupti-%d.cap", gt_cu_options.capture, (int)gt_raw(SYS_getpid));
	fd = (int)gt_raw(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC,
			 0600);
	if (fd < 0 || gt_raw(SYS_write, fd, &header, sizeof(header)) != (long)sizeof(header)) {
		gt_message(1, "VT_CUPTI_CAPTURE: cannot write %s: no capture is made", path);
		fd = -1;
	}
}

void gt_cu_capture_name(uint32_t domain, uint32_t id, const char *name)
{
	uint32_t what[2] = { domain, id };

	if (fd >= 0)
		put(GT_CAP_NAME, what, sizeof(what), name, strlen(name) + 1);
}

void gt_cu_capture_call(uint32_t domain, uint32_t id, const struct cu_call_data *data)
{
	struct gt_cap_call call = {
		.time = gt_cu_clock_now(),
		.thread = gt_is_confined() ? 0 : (uint32_t)gt_raw(SYS_gettid),
		.domain = domain,
		.id = id,
		.site = (uint32_t)data->site,
		.correlation = data->correlation,
		.context = data->context_uid,
		.result = data->site && data->result ? *(const int *)data->result : 0,
	};

	put(GT_CAP_CALL, &call, sizeof(call), NULL, 0);
}

/* Names are text of other libraries: one piece for each address, as long as it is known. */
static void put_string(const char *text)
{
	uint32_t slot = (uint32_t)((uintptr_t)text >> 3 ^ (uintptr_t)text >> 15) % STRINGS;
	uint64_t address = (uintptr_t)text;

	if (!text || known[slot] == text)
		return;
	known[slot] = text;
	put(GT_CAP_STRING, &address, sizeof(address), text, strlen(text) + 1);
}

static void put_size(const struct cu_record *record, const uint8_t *next)
{
	uint32_t size[2] = { record->kind, (uint32_t)(next - (const uint8_t *)record) };

	if (record->kind >= KINDS || sizes[record->kind] == size[1])
		return;
	sizes[record->kind] = size[1];
	put(GT_CAP_SIZE, size, sizeof(size), NULL, 0);
}

void gt_cu_capture_buffer(uint8_t *buffer, size_t valid)
{
	struct cu_record *record = NULL, *last = NULL;
	uint64_t now = gt_cu_clock_now();

	if (fd < 0 || !valid)
		return;
	while (!gt_cu_api.next_record(buffer, valid, &record) && record) {
		if (last)
			put_size(last, (const uint8_t *)record);
		if (record->kind == CU_KIND_CONCURRENT_KERNEL || record->kind == CU_KIND_KERNEL)
			put_string(((const struct cu_kernel *)record)->name);
		last = record;
	}
	if (last)
		put_size(last, buffer + valid);
	put(GT_CAP_BUFFER, &now, sizeof(now), buffer, valid);
}
