/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Interpreters, of the adapters that record their functions; see interpreter.h.
 */
#include "lib/assemble/util/interpreter.h"

#include <stddef.h>
#include <string.h>

const char *gt_interpreter_setting(const char *program)
{
#define GT_INTERPRETER(program, setting) { program, setting },
	static const struct {
		const char *program, *setting;
	} interpreters[] = {
#include "registry/adapters.def"
	};
	const char *slash = strrchr(program, '/'), *name = slash ? slash + 1 : program;

	for (size_t k = 0; k < sizeof(interpreters) / sizeof(*interpreters); k++)
		if (!strncmp(name, interpreters[k].program, strlen(interpreters[k].program)))
			return interpreters[k].setting;
	return NULL;
}
