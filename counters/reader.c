/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Elects the process that reads counters of more than itself: for a host, the first of the run's processes
 * there that binds a name (a Unix socket without a file, which ends with its process); for a whole run,
 * that of rank 0's host.
 *
 * Limits: processes in network namespaces of their own do not see each other, and each reads. If the reader
 * ends early nobody takes its place.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "counters/counters.h"
#include "gputrace/hash.h"
#include "gputrace/syscall.h"

/* The rank, if a launcher says it; else 0. */
static long rank(void)
{
	static const char *const names[] = {
#define GT_LAUNCHER_RANK(name) name,
#include "launchers/launchers.def"
	};
	const char *text;

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if ((text = getenv(names[i])) && *text)
			return strtol(text, NULL, 10);
	return 0;
}

/* A process that cannot keep the name leaves it to others: with two readers, sums would count twice. */
static bool no_descriptor(const struct gt_plugin *plugin)
{
	unsigned first = 0; /* of the groups of this plug-in */

	while (gt_cn_groups[first].plugin != plugin)
		first++;
	if (gt_cn_first_to_say(GT_CN_SAY_SEAT + first)) {
		gt_message(1,
			   "the counters of %s are not read in this process: it has no descriptor to spare",
			   plugin->name);
		gt_lost(GT_LOSS_METRIC, 1);
	}
	return false;
}

static bool bind_name(const struct gt_plugin *plugin, uint32_t device)
{
	static struct {
		const struct gt_plugin *plugin;
		uint32_t device;
	} ours[GT_CN_GROUPS]; /* groups of one device may have different intervals */
	static unsigned count;
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const char *run = getenv("VT_RUN_DIR");
	uint64_t hash = gt_hash_text(GT_HASH_START, run ? run : "");
	struct stat own;
	int fd, n;

	for (unsigned i = 0; i < count; i++)
		if (ours[i].plugin == plugin && ours[i].device == device)
			return true;
	if (!run) /* ranks of one host have one parent */
		hash = gt_hash_mix(hash, (uint64_t)gt_raw(SYS_getppid));
	n = snprintf(address.sun_path + 1, sizeof(address.sun_path) - 1, "gputrace-%llx-%.40s-%u",
		     (unsigned long long)hash, plugin->name, device);
	fd = (int)gt_raw(SYS_socket, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return fd == -EMFILE || fd == -ENFILE ? no_descriptor(plugin) : true;
	if (gt_raw_note_own(fd, &own))
		return true;
	if (gt_raw(SYS_bind, fd, &address, offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n) ==
	    -EADDRINUSE) {
		gt_raw_close_own(fd, &own);
		return false;
	}
	if (gt_descriptor_away(fd) < 0) /* it would be open until the process ends */
		return no_descriptor(plugin);
	ours[count].plugin = plugin;
	ours[count++].device = device;
	return true;
}

static bool in_child;

void gt_cn_reader_forked(void)
{
	in_child = true;
}

bool gt_cn_works_here(const struct gt_cn_group *group)
{
	if (!in_child || !(group->plugin->flags & GT_PLUGIN_NO_FORK))
		return true;
	if (gt_cn_first_to_say((unsigned)(group - gt_cn_groups)))
		gt_message(1, "the counters of %s cannot be read in forked children", group->plugin->name);
	return false;
}

/* Counters of more than the process are read by its parent, or by the reader in its place. */
bool gt_cn_is_reader(const struct gt_cn_group *group)
{
	unsigned scope = group->metrics[0].scope;

	if (scope < GT_PLUGIN_HOST)
		return true;
	if (in_child || (scope == GT_PLUGIN_ONCE && rank()))
		return false;
	return bind_name(group->plugin, group->metrics[0].device);
}
