/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of functions from an ELF file; see elfsym.h.
 *
 * Limits: a file is read once, with pread; sorting is a heap sort in place.
 */
#include "lib/record/elfsym.h"

#include "lib/common/sys.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>

typedef ElfW(Ehdr) ehdr_t;
typedef ElfW(Phdr) phdr_t;
typedef ElfW(Shdr) shdr_t;
typedef ElfW(Sym) sym_t;

#define SECTIONS_MAX 262144u
#define SYMBOLS_MAX  (8u << 20)
#define STRINGS_MAX  (1u << 30)

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define HOST_ORDER ELFDATA2LSB
#else
#define HOST_ORDER ELFDATA2MSB
#endif
#define HOST_CLASS (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32)

struct file {
	int fd;
	uint64_t size;
};

/* Exactly `size` bytes at `offset`, which must lie within the file. */
static bool read_at(const struct file *file, void *buffer, uint64_t size, uint64_t offset)
{
	uint64_t got = 0;

	if (offset > file->size || size > file->size - offset)
		return false;
	while (got < size) {
		ssize_t n = gt_sys_pread(file->fd, (char *)buffer + got, size - got, offset + got);

		if (n == -EINTR)
			continue;
		if (n <= 0)
			return false;
		got += (uint64_t)n;
	}
	return true;
}

/* The same into fresh memory with one zero byte more; NULL: damaged or no memory. */
static void *load(const struct file *file, uint64_t size, uint64_t offset)
{
	void *memory;

	if (offset > file->size || size > file->size - offset)
		return NULL;
	memory = gt_sys_memory(size + 1);
	if (memory && !read_at(file, memory, size, offset)) {
		gt_sys_munmap(memory, size + 1);
		memory = NULL;
	}
	return memory;
}

static bool read_header(const struct file *file, ehdr_t *header)
{
	return read_at(file, header, sizeof(*header), 0) &&
	       !memcmp(header->e_ident, ELFMAG, SELFMAG) &&
	       header->e_ident[EI_CLASS] == HOST_CLASS && header->e_ident[EI_DATA] == HOST_ORDER &&
	       header->e_phentsize == sizeof(phdr_t);
}

static bool read_loads(struct gt_elfsym *elf, const struct file *file, const ehdr_t *header)
{
	for (unsigned i = 0; i < header->e_phnum; i++) {
		phdr_t segment;

		if (!read_at(file, &segment, sizeof(segment),
			     header->e_phoff + (uint64_t)i * sizeof(segment)))
			return false;
		if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_X) ||
		    elf->load_count == GT_ELFSYM_LOADS_MAX)
			continue;
		elf->loads[elf->load_count].offset = segment.p_offset;
		elf->loads[elf->load_count].size = segment.p_filesz;
		elf->loads[elf->load_count].address = segment.p_vaddr;
		elf->load_count++;
	}
	return elf->load_count > 0;
}

/* ---- order: by value, then visible before hidden, then by name ------------------------------- */

/* While sorting, the binding is kept in the top bits of `size`; sizes are cut to what is left. */
#define RANK_SHIFT 30
#define SIZE_MASK  ((1u << RANK_SHIFT) - 1)

static unsigned rank_of(unsigned binding)
{
	return binding == STB_GLOBAL ? 0 : binding == STB_WEAK ? 1 : 2;
}

static bool before(const struct gt_elfsym *elf, const struct gt_elfsym_function *a,
		   const struct gt_elfsym_function *b)
{
	if (a->value != b->value)
		return a->value < b->value;
	if (a->size >> RANK_SHIFT != b->size >> RANK_SHIFT)
		return a->size >> RANK_SHIFT < b->size >> RANK_SHIFT;
	return strcmp(elf->strings + a->name, elf->strings + b->name) < 0;
}

static void sift(const struct gt_elfsym *elf, uint32_t root, uint32_t count)
{
	struct gt_elfsym_function *heap = elf->functions;

	for (;;) {
		uint32_t child = 2 * root + 1;
		struct gt_elfsym_function swap;

		if (child >= count)
			return;
		if (child + 1 < count && before(elf, &heap[child], &heap[child + 1]))
			child++;
		if (!before(elf, &heap[root], &heap[child]))
			return;
		swap = heap[root];
		heap[root] = heap[child];
		heap[child] = swap;
		root = child;
	}
}

static void sort(struct gt_elfsym *elf)
{
	uint32_t kept = 0;

	for (uint32_t i = elf->count / 2; i-- > 0;)
		sift(elf, i, elf->count);
	for (uint32_t end = elf->count; end > 1; end--) {
		struct gt_elfsym_function swap = elf->functions[0];

		elf->functions[0] = elf->functions[end - 1];
		elf->functions[end - 1] = swap;
		sift(elf, 0, end - 1);
	}
	for (uint32_t i = 0; i < elf->count; i++) {
		struct gt_elfsym_function function = elf->functions[i];

		function.size &= SIZE_MASK;
		if (!kept || elf->functions[kept - 1].value != function.value)
			elf->functions[kept++] = function;
	}
	elf->count = kept;
}

/* ---- symbols --------------------------------------------------------------------------------- */

static bool is_function(const sym_t *symbol, uint64_t string_bytes)
{
	unsigned type = symbol->st_info & 0xf;

	return (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol->st_shndx != SHN_UNDEF &&
	       symbol->st_name && symbol->st_name < string_bytes;
}

static void drop_symbols(struct gt_elfsym *elf)
{
	if (elf->functions)
		gt_sys_munmap(elf->functions, elf->functions_mapped);
	if (elf->strings)
		gt_sys_munmap(elf->strings, elf->strings_mapped);
	elf->functions = NULL;
	elf->strings = NULL;
	elf->count = 0;
}

/* The functions of one symbol table; 0, -ENOENT if it has none, or another negative errno. */
static int read_symbols(struct gt_elfsym *elf, const struct file *file, const shdr_t *table,
			const shdr_t *strings)
{
	uint64_t symbols = table->sh_size / sizeof(sym_t);
	sym_t *all;
	uint32_t count = 0;

	if (table->sh_entsize != sizeof(sym_t) || strings->sh_type != SHT_STRTAB ||
	    symbols > SYMBOLS_MAX || strings->sh_size > STRINGS_MAX)
		return -ENOEXEC;
	all = load(file, symbols * sizeof(sym_t), table->sh_offset);
	if (!all)
		return -ENOEXEC;
	for (uint64_t i = 0; i < symbols; i++)
		count += is_function(&all[i], strings->sh_size);
	elf->functions_mapped = count * sizeof(*elf->functions);
	elf->functions = count ? gt_sys_memory(elf->functions_mapped) : NULL;
	elf->strings_mapped = strings->sh_size + 1;
	elf->strings = elf->functions ? load(file, strings->sh_size, strings->sh_offset) : NULL;
	for (uint64_t i = 0; i < symbols && elf->strings; i++) {
		struct gt_elfsym_function *function = &elf->functions[elf->count];
		uint32_t size = all[i].st_size > SIZE_MASK ? SIZE_MASK : (uint32_t)all[i].st_size;

		if (!is_function(&all[i], strings->sh_size))
			continue;
		function->value = all[i].st_value;
		function->size = size | rank_of(all[i].st_info >> 4) << RANK_SHIFT;
		function->name = all[i].st_name;
		elf->count++;
	}
	gt_sys_munmap(all, symbols * sizeof(sym_t) + 1);
	if (!count)
		return -ENOENT;
	if (!elf->strings) {
		drop_symbols(elf);
		return -ENOEXEC;
	}
	sort(elf);
	return 0;
}

static int read_sections(struct gt_elfsym *elf, const struct file *file, const ehdr_t *header)
{
	static const uint32_t wanted[] = { SHT_SYMTAB, SHT_DYNSYM };
	uint64_t sections = header->e_shnum;
	shdr_t first, *all;
	int ret = -ENOENT;

	if (!header->e_shoff || header->e_shentsize != sizeof(shdr_t) ||
	    !read_at(file, &first, sizeof(first), header->e_shoff))
		return -ENOENT;
	if (!sections)
		sections = first.sh_size; /* too many for the header's field */
	if (!sections || sections > SECTIONS_MAX)
		return -ENOEXEC;
	all = load(file, sections * sizeof(shdr_t), header->e_shoff);
	if (!all)
		return -ENOEXEC;
	for (unsigned w = 0; w < 2 && ret; w++)
		for (uint64_t i = 0; i < sections && ret; i++)
			if (all[i].sh_type == wanted[w] && all[i].sh_link < sections)
				ret = read_symbols(elf, file, &all[i], &all[all[i].sh_link]);
	gt_sys_munmap(all, sections * sizeof(shdr_t) + 1);
	return ret;
}

int gt_elfsym_open(struct gt_elfsym *elf, const char *path)
{
	struct file file;
	struct stat st;
	ehdr_t header;
	int ret;

	memset(elf, 0, sizeof(*elf));
	file.fd = gt_sys_open_own(AT_FDCWD, path, O_NONBLOCK | O_NOCTTY, &st);
	if (file.fd < 0)
		return file.fd;
	ret = S_ISREG(st.st_mode) ? 0 : -ENOEXEC;
	if (!ret) {
		file.size = (uint64_t)st.st_size;
		ret = read_header(&file, &header) && read_loads(elf, &file, &header) ?
			      read_sections(elf, &file, &header) : -ENOEXEC;
	}
	if (gt_sys_close_own(file.fd, &st) && !ret) { /* it may have been another file */
		gt_elfsym_close(elf);
		ret = -EBADF;
	}
	return ret;
}

void gt_elfsym_close(struct gt_elfsym *elf)
{
	drop_symbols(elf);
	elf->load_count = 0;
}

const char *gt_elfsym_find_rest(const struct gt_elfsym *elf, uint64_t offset, uint32_t *rest)
{
	const struct gt_elfsym_function *found;
	uint64_t address = 0;
	uint32_t low = 0, high = elf->count;
	bool loaded = false;

	*rest = 0;
	for (uint32_t i = 0; i < elf->load_count && !loaded; i++) {
		loaded = offset >= elf->loads[i].offset &&
			 offset - elf->loads[i].offset < elf->loads[i].size;
		address = offset - elf->loads[i].offset + elf->loads[i].address;
	}
	if (!loaded)
		return NULL;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (elf->functions[middle].value <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return NULL;
	found = &elf->functions[low - 1];
	if (address != found->value && address - found->value >= found->size)
		return NULL;
	if (found->size)
		*rest = (uint32_t)(found->value + found->size - address);
	return elf->strings + found->name;
}

const char *gt_elfsym_find(const struct gt_elfsym *elf, uint64_t offset)
{
	uint32_t rest;

	return gt_elfsym_find_rest(elf, offset, &rest);
}
