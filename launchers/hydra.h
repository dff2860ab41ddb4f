/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the job that a process of MPICH's Hydra belongs to. Hydra sets no variable with a job id, but on
 * each host one ancestor of the process is a proxy, and its command line has mpiexec's address and the
 * process group.
 *
 * Limits: knows command lines of MPICH's own proxies only.
 */
#ifndef GT_LAUNCHERS_HYDRA_H
#define GT_LAUNCHERS_HYDRA_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/*
 * Looks through a command line of `n` bytes as /proc has it, with a NUL behind. False: it is not a proxy's.
 */
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
