/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPICH's Hydra tells its processes no name of the job, but on each host an ancestor of theirs is a proxy
 * whose command line says where mpiexec listens, and which of its groups of processes these are.
 */
#ifndef GT_LAUNCHERS_HYDRA_H
#define GT_LAUNCHERS_HYDRA_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Looks through a command line of `n` bytes as /proc has it, with a NUL behind. False: it is not a proxy's. */
static inline bool gt_hydra_job(const char *line, size_t n, const char **port, const char **group)
{
	*port = NULL;
	*group = "";
	for (const char *word = line; word < line + n; word += strlen(word) + 1) {
		const char *value = word + strlen(word) + 1;

		if (value >= line + n)
			break;
		if (!strcmp(word, "--control-port"))
			*port = value;
		if (!strcmp(word, "--pgid"))
			*group = value;
	}
	return *port != NULL;
}

#endif
