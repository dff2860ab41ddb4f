/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `gputrace libwrapgen`: becomes the generator, a Python program, and tells it where our parts are.
 *
 * Limits: needs python3 in PATH; all options are the generator's own.
 */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/cmds.h"
#include "tools/paths.h"

static int complain(const char *sentence)
{
	fprintf(stderr, "gputrace libwrapgen: %s\n", sentence);
	return GT_RC_USAGE;
}

int gt_cmd_libwrapgen(int argc, char **argv)
{
	static char script[PATH_MAX + 32], include[PATH_MAX], lib[PATH_MAX];
	char python[PATH_MAX];
	char **words = calloc((size_t)argc + 8, sizeof(*words));
	size_t n = 0;

	if (!words)
		return complain("no memory");
	if (!gt_path_datadir(script, PATH_MAX) || !gt_path_libdir(lib, sizeof(lib)) ||
	    !gt_path_includedir(include, sizeof(include)))
		return complain("gputrace is not installed: its headers and libraries cannot be found");
	strcat(script, "/libwrapgen/main.py");
	if (access(script, R_OK)) {
		fprintf(stderr, "gputrace libwrapgen: %s cannot be read: %s\n", script, strerror(errno));
		return GT_RC_USAGE;
	}
	if (gt_path_command("python3", python, sizeof(python)))
		return complain("python3 is not installed");
	words[n++] = python;
	words[n++] = (char *)"-I"; /* neither the environment nor the present folder change what it is */
	words[n++] = script;
	words[n++] = include;
	words[n++] = lib;
	words[n++] = (char *)GT_DEFAULT_CC;
	for (int i = 1; i < argc; i++)
		words[n++] = argv[i];
	execv(python, words);
	fprintf(stderr, "gputrace libwrapgen: %s: %s\n", python, strerror(errno));
	return GT_RC_USAGE;
}
