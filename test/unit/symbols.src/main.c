/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program whose functions are looked up by test_symbols.c: it prints what it has and then its
 * memory map.
 *
 * Limits: x86-64 and aarch64 (the functions written in assembler).
 */
#include "show.h"
#include "lib.h"

void other_show(void);

LINE_OF(helper);
static NOINLINE int helper(int x) { return x * 3 + 1; }
LINE_OF(work);
NOINLINE int work(int x) { return helper(x) + 2; }
/* Three names of one function: the one that a user would write is to be found. */
extern int __work_internal(int x) __attribute__((alias("work")));
extern int a_weak(int x) __attribute__((alias("work"), weak));

LINE_OF(_under_only);
NOINLINE int _under_only(int x) { return x ^ 5; }
extern int b_static_like(int x) __attribute__((alias("_under_only")));

LINE_OF(resolve_twice);
static NOINLINE void *resolve_twice(void) { return (void *)work; }
int twice(int x) __attribute__((ifunc("resolve_twice")));

/* A function without type or size, and a sized one that has a label in it. */
void bare_label(void);
void sized_asm(void);
void inner_label(void);
__asm__(".text\n.globl bare_label\nbare_label:\n\tnop\n\tnop\n\tret\n\t.balign 16\n"
	".globl sized_asm\n.type sized_asm, %function\nsized_asm:\n\tnop\n"
	".globl inner_label\ninner_label:\n\tnop\n\tret\n.size sized_asm, . - sized_asm\n");
enum { bare_label_line = 0, sized_asm_line = 0, inner_label_line = 0 };

LINE_OF(main);
int main(int argc, char **argv)
{
	char line[4096];
	FILE *maps;

	(void)argv;
	SHOW(main, "g");
	SHOW(helper, "s");
	SHOW(work, "g");
	SHOW_AS(_under_only, "b_static_like", "g", _under_only);
	SHOW(resolve_twice, "i");
	SHOW(bare_label, "x");
	SHOW_AS(bare_label, "bare_label", "xs", (char *)bare_label + 1);
	SHOW(sized_asm, "x");
	SHOW_AS(inner_label, "sized_asm", "x", inner_label);
	other_show();
	lib_show();
	printf("U\t%d\n", twice(argc) + _under_only(argc));
	/* The address of a library's function as this program sees it; in a program that is linked
	   to a fixed address it may lie in the program's own procedure linkage table. */
	printf("P\tlib_work\t%p\n", (void *)lib_work);
	maps = fopen("/proc/self/maps", "r");
	while (maps && fgets(line, sizeof(line), maps))
		printf("M\t%s", line);
	return 0;
}
