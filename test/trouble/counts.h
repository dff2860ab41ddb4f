/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The truth about a program that is going to be killed: per thread, how many calls have been
 * completed, in a MAP_SHARED file that survives it. test/tools/counts.py reads it.
 *
 * Limits: 64 threads, over all processes of a run.
 */
#ifndef COUNTS_H
#define COUNTS_H

#include "trouble.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>

#define COUNTS_THREADS 64

struct counts {
	struct {
		/* Calls of work() that have returned. Only its thread writes it. */
		uint64_t done;
		uint64_t pid, tid, reserved[5]; /* a cache line each */
	} thread[COUNTS_THREADS];
};

UNSEEN static struct counts *counts_open(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT, 0600);
	void *page;

	MUST(fd >= 0);
	MUST(!ftruncate(fd, sizeof(struct counts)));
	page = mmap(NULL, sizeof(struct counts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	MUST(page != MAP_FAILED);
	close(fd);
	return page;
}

#endif
