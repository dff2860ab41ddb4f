/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzz target: a mangled C++ name.
 *
 * Limits: that nothing is overrun and it ends; whether the text is right is for test/unit/demangle.
 *
 * fuzz-sources: lib/common/demangle.c lib/common/demangle_name.c
 */
#include "lib/common/demangle.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *full = malloc(GT_DEMANGLE_MAX), *plain = malloc(GT_DEMANGLE_MAX);
	char *name = malloc(size + 3);
	bool known;

	/* Anything not mangled is refused at once: begin behind that. */
	memcpy(name, "_Z", 2);
	memcpy(name + 2, data, size);
	name[size + 2] = '\0';
	known = gt_demangle(name, full, plain);
	if (known != (*plain != '\0') || (*full && !*plain) || strlen(full) >= GT_DEMANGLE_MAX ||
	    strlen(plain) >= GT_DEMANGLE_MAX)
		abort();
	free(name);
	free(full);
	free(plain);
	return 0;
}
