/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: an ELF file, for the reader of symbols in the traced process.
 *
 * Limits: the file is a memfd; it does not change while it is read.
 *
 * fuzz-sources: lib/record/elfsym.c
 */
#include "lib/record/elfsym.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char path[64];
	static int fd = -1;
	struct gt_elfsym elf;

	if (fd < 0) {
		fd = memfd_create("elf", 0);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	if (fd < 0 || ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	if (!gt_elfsym_open(&elf, path)) {
		uint64_t last = 0;

		for (uint32_t i = 0; i < elf.count; i++) {
			if (i && elf.functions[i].value <= last)
				abort();
			last = elf.functions[i].value;
		}
		for (uint64_t offset = 0; offset < size + 64; offset += 13) {
			const char *name = gt_elfsym_find(&elf, offset);

			if (name && strlen(name) > size)
				abort();
		}
	}
	gt_elfsym_close(&elf);
	return 0;
}
