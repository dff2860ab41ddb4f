/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Damages the unwind tables of a library in memory, byte by byte at random, and walks stacks of random words
 * from random places of its code. Arguments: the library, rounds, seed. Prints how many walks came back, and
 * how many of them went through the library's tables.
 *
 * The stack that is walked ends before a page that cannot be read.
 */
#define _GNU_SOURCE
#include "gputrace/records.h"
#include "sampling/cpu.h"
#include "sampling/peek.h"
#include "sampling/unwind.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define STACK  65536u
#define WALKS  64 /* of each damage */
#define PAGE   4096u

struct library {
	const char *path;
	uint8_t *base, *tables, *code;
	size_t table_bytes, code_bytes;
};

static struct gt_walker walker;
static uint8_t *stack;
static uint64_t state;

static uint64_t any(uint64_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % below;
}

/* .eh_frame_hdr, and .eh_frame behind it, are in the last part of their segment. */
static int look(struct dl_phdr_info *info, size_t bytes, void *data)
{
	struct library *lib = data;

	(void)bytes;
	if (strcmp(info->dlpi_name, lib->path))
		return 0;
	lib->base = (uint8_t *)info->dlpi_addr;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_GNU_EH_FRAME)
			lib->tables = lib->base + p->p_vaddr;
		if (p->p_type == PT_LOAD && p->p_flags & PF_X) {
			lib->code = lib->base + p->p_vaddr;
			lib->code_bytes = p->p_memsz;
		}
	}
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uint8_t *low = lib->base + p->p_vaddr;

		if (p->p_type == PT_LOAD && lib->tables >= low && lib->tables < low + p->p_memsz)
			lib->table_bytes = (size_t)(low + p->p_memsz - lib->tables);
	}
	return 1;
}

static void writable(uint8_t *from, size_t bytes)
{
	uint8_t *page = (uint8_t *)((uintptr_t)from & ~(uintptr_t)(PAGE - 1));

	if (mprotect(page, (size_t)(from + bytes - page), PROT_READ | PROT_WRITE))
		abort();
}

/* Words that lead somewhere, more often than not. */
static void fill_stack(const struct library *lib)
{
	uint64_t *word = (uint64_t *)stack;

	for (unsigned i = 0; i < STACK / 8; i++) {
		uint64_t what = any(8);

		word[i] = what < 3 ? (uintptr_t)lib->code + any(lib->code_bytes)
			  : what < 6 ? (uintptr_t)stack + 8 * any(STACK / 8)
			  : what < 7 ? any(1 << 20)
				     : any(UINT64_MAX);
	}
}

static unsigned walk_any(const struct library *lib)
{
	ucontext_t at = { 0 };
	long long *all = (void *)((char *)&at + offsetof(ucontext_t, uc_mcontext.GT_CPU_REGISTERS));

	for (unsigned i = 0; i < sizeof(at.uc_mcontext.GT_CPU_REGISTERS) / sizeof(*all); i++)
		all[i] = (long long)(uintptr_t)(stack + 8 * any(STACK / 8));
	all[GT_CPU_PC] = (long long)((uintptr_t)lib->code + any(lib->code_bytes));
	all[GT_CPU_SP] = (long long)(uintptr_t)(stack + 8 * any(STACK / 16) + !any(16));
	/* Half of them on a stack whose bounds are not known. */
	gt_walker_begin(&walker, any(2) ? (uintptr_t)stack : 0, (uintptr_t)stack + STACK);
	if (!walker.low)
		walker.high = 0;
	return gt_walk(&walker, &at);
}

static void one_damage(const struct library *lib, const uint8_t *whole, unsigned long *frames)
{
	memcpy(lib->tables, whole, lib->table_bytes);
	for (uint64_t n = 1 + any(400); n; n--)
		lib->tables[any(any(3) ? lib->table_bytes : 64)] = (uint8_t)any(256);
	lib->base[9]++; /* a byte of the header that means nothing: another library */
	gt_unwind_changed();
	gt_peek_refused = any(8) == 0;
	for (int i = 0; i < WALKS; i++)
		*frames += walk_any(lib);
}

int main(int argc, char **argv)
{
	unsigned long frames = 0, rounds;
	struct library lib = { argv[1], NULL, NULL, NULL, 0, 0 };
	uint8_t *whole;

	if (argc < 4 || !dlopen(lib.path, RTLD_NOW) || !dl_iterate_phdr(look, &lib) || !gt_unwind_ready())
		return 2;
	rounds = strtoul(argv[2], NULL, 10);
	state = strtoull(argv[3], NULL, 10) * 2 + 1;
	stack = mmap(NULL, STACK + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(stack + STACK, PAGE, PROT_NONE);
	writable(lib.base, PAGE);
	writable(lib.tables, lib.table_bytes);
	whole = malloc(lib.table_bytes);
	memcpy(whole, lib.tables, lib.table_bytes);
	for (unsigned long i = 0; i < rounds; i++) {
		if (i % 16 == 0)
			fill_stack(&lib);
		one_damage(&lib, whole, &frames);
	}
	printf("walks %lu\nframes %lu\n", rounds * WALKS, frames);
	return 0;
}
