/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unit tests of lib/common/needed.c and elfnames.c, which look at this program's own file.
 *
 * Limits: how libraries are searched for is test/proc/names.test's.
 */
#include "lib/common/needed.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define FIFTY needed_with_a_name_as_mangled_ones_of_templates_x
#define JOIN4(a, b, c, d) a##b##c##d
#define NAME4(x) JOIN4(x, x, x, x)
#define LONG_NAME NAME4(FIFTY)
#define TEXT2(x) #x
#define TEXT(x) TEXT2(x)

int LONG_NAME(void);
__attribute__((noinline, visibility("default"))) int LONG_NAME(void)
{
	return 3;
}

static char self[4096];

static uint32_t defines(const char *symbol, void (*found)(unsigned, struct gt_elf_names *, int))
{
	const struct gt_shown row = { "some.so", symbol };
	const struct gt_needed ask = { .rows = &row, .count = 1, .found = found };
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	cr_assert(n > 0);
	self[n] = 0;
	return gt_needed_by_library(&ask, self, self);
}

Test(needed, finds_long_names)
{
	cr_assert(LONG_NAME() == 3 && strlen(TEXT(LONG_NAME)) > 128);
	cr_expect(defines(TEXT(LONG_NAME), NULL) == 1);
	cr_expect(defines(TEXT(LONG_NAME) "y", NULL) == 0);
	cr_expect(defines(TEXT(FIFTY), NULL) == 0);
}

static int number = -1;

/* As another thread of the program may do at any time. */
static void replace(unsigned row, struct gt_elf_names *elf, int fd)
{
	int other = open("/dev/null", O_RDONLY);

	(void)row;
	(void)elf;
	cr_assert(other >= 0 && dup2(other, fd) == fd);
	number = fd;
}

Test(needed, leaves_what_is_not_its_own)
{
	cr_expect(defines(TEXT(LONG_NAME), replace) == 1);
	cr_expect(number >= 0 && fcntl(number, F_GETFD) >= 0);
}

static void note(unsigned row, struct gt_elf_names *elf, int fd)
{
	(void)row;
	(void)elf;
	number = fd;
}

Test(needed, closes_what_is_its_own)
{
	cr_expect(defines(TEXT(LONG_NAME), note) == 1);
	cr_expect(number >= 0 && fcntl(number, F_GETFD) < 0);
}
