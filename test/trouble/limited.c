/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that allows itself files of so many bytes only, and leaves SIGXFSZ and SIGPIPE to do what
 * they do by default: limited BYTES.
 */
#include "trouble.h"

#include <sys/resource.h>

int main(int argc, char **argv)
{
	struct rlimit limit = { 0, 0 };

	limit.rlim_cur = limit.rlim_max = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	MUST(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	say("work is done\n");
	return 3;
}
