/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the benchmark programs: the clock they report with, and the memory they use.
 *
 * Limits: Linux; everything is inline and never instrumented, so that nothing here is measured.
 */
#ifndef GT_BENCH_H
#define GT_BENCH_H

#include <stdio.h>
#include <string.h>
#include <time.h>

#define NOINSTR __attribute__((no_instrument_function))
#define KEEP    __attribute__((noinline, noclone)) /* stays a call in every build */

NOINSTR static inline double bench_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Prints one line of /proc/self/status, such as "VmHWM:", in KiB as " name=value". */
NOINSTR static inline void bench_status(const char *text, const char *field, const char *name)
{
	const char *p = strstr(text, field);
	long kib = 0;

	if (p && sscanf(p + strlen(field), "%ld", &kib) == 1)
		printf(" %s=%ld", name, kib);
}

/*
 * Ends the program's line of key=value pairs: its memory now (KiB), and the moment, from which a
 * runner computes how long the tool went on after main().
 */
NOINSTR static inline void bench_end(void)
{
	static char text[8192];
	FILE *f = fopen("/proc/self/status", "r");
	size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

	if (f)
		fclose(f);
	text[n] = '\0';
	bench_status(text, "RssAnon:", "anon_kib");
	bench_status(text, "RssShmem:", "shmem_kib");
	bench_status(text, "RssFile:", "file_kib");
	bench_status(text, "VmHWM:", "peak_kib");
	printf(" end_s=%.9f\n", bench_now());
	fflush(stdout);
}

#endif
