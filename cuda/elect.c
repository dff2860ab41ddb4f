/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The seat of a device is a Unix socket without a file: the first process of the run that binds its name has
 * it, and it is free again when that process is gone, however it went.
 *
 * Limits: processes in network namespaces of their own do not see each other; then CUPTI lets one of them
 * sample. Children that the program forked after CUDA began keep nothing of it.
 */
#include "cuda/elect.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "gputrace/adapter.h"
#include "gputrace/hash.h"
#include "gputrace/syscall.h"

bool gt_cu_seat_take(struct gt_cu_seat *seat, const char *uuid)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const char *run = getenv("VT_RUN_DIR");
	uint64_t hash = gt_hash_text(GT_HASH_START, run ? run : "");
	int n;

	if (!run) /* ranks of one host have one parent */
		hash = gt_hash_mix(hash, (uint64_t)gt_raw(SYS_getppid));
	n = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "gputrace-%llx-pm-%.60s",
		     (unsigned long long)hash, uuid);
	seat->fd = (int)gt_raw(SYS_socket, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (seat->fd < 0 || gt_raw_note_own(seat->fd, &seat->own))
		return true;
	if (gt_raw(SYS_bind, seat->fd, &address,
		   offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n) == -EADDRINUSE) {
		gt_raw_close_own(seat->fd, &seat->own);
		seat->fd = -1;
		return false;
	}
	seat->fd = gt_descriptor_away(seat->fd);
	return true;
}

void gt_cu_seat_forked(struct gt_cu_seat *seat)
{
	gt_raw_close_own(seat->fd, &seat->own);
	seat->fd = -1;
}
