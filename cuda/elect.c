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

static uint64_t inode_of(int fd)
{
	struct stat st;

	return gt_raw(SYS_newfstatat, fd, "", &st, AT_EMPTY_PATH) ? 0 : st.st_ino;
}

static void move_away(struct gt_cu_seat *seat)
{
	seat->fd = gt_descriptor_away(seat->fd);
	seat->inode = inode_of(seat->fd);
}

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
	if (seat->fd < 0)
		return true;
	if (gt_raw(SYS_bind, seat->fd, &address,
		   offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n) == -EADDRINUSE) {
		gt_raw(SYS_close, seat->fd);
		seat->fd = -1;
		return false;
	}
	move_away(seat);
	return true;
}

void gt_cu_seat_forked(struct gt_cu_seat *seat)
{
	/* The program may have closed it, and the number may be its own by now. */
	if (seat->fd >= 0 && seat->inode && inode_of(seat->fd) == seat->inode)
		gt_raw(SYS_close, seat->fd);
	seat->fd = -1;
}
