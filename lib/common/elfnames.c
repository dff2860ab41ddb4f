/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads a file's dynamic section as the loader does; see elfnames.h.
 *
 * Limits: GT_ELF_LOADS segments, DYNAMIC entries; chains of at most CHAIN symbols of one hash value.
 */
#include "lib/common/elfnames.h"

#include <elf.h>
#include <link.h>
#include <string.h>

#include "lib/common/sys.h"

#define DYNAMIC 512
#define CHAIN   65536

extern const ElfW(Ehdr) __ehdr_start GT_HIDDEN; /* of this file; the linker makes it */

static bool read_at(int fd, void *to, size_t size, uint64_t offset)
{
	return gt_sys_pread(fd, to, size, offset) == (ssize_t)size;
}

/* Where in the file an address lies; `room`: how much of it there is. 0: nowhere. */
static uint64_t place(const struct gt_elf_names *elf, uint64_t address, uint64_t *room)
{
	for (unsigned i = 0; i < elf->loads_n; i++) {
		uint64_t in = address - elf->loads[i].address;

		if (address < elf->loads[i].address || in >= elf->loads[i].size)
			continue;
		*room = elf->loads[i].size - in;
		return elf->loads[i].offset + in;
	}
	*room = 0;
	return 0;
}

static bool read_address(const struct gt_elf_names *elf, int fd, void *to, size_t size, uint64_t address)
{
	uint64_t room, offset = place(elf, address, &room);

	if (size > room)
		return false;
	if (!elf->map)
		return read_at(fd, to, size, offset);
	if (offset > elf->map_size || size > elf->map_size - offset)
		return false;
	memcpy(to, elf->map + offset, size);
	return true;
}

/* ---- the dynamic section ----------------------------------------------------------------------------- */

static void take(struct gt_elf_names *elf, const ElfW(Dyn) *d)
{
	switch (d->d_tag) {
	case DT_STRTAB:
		elf->strings = d->d_un.d_ptr;
		break;
	case DT_SYMTAB:
		elf->symbols = d->d_un.d_ptr;
		break;
	case DT_GNU_HASH:
		elf->gnu_hash = d->d_un.d_ptr;
		break;
	case DT_HASH:
		elf->hash = d->d_un.d_ptr;
		break;
	case DT_RPATH:
		elf->rpath = (uint32_t)d->d_un.d_val;
		break;
	case DT_RUNPATH:
		elf->runpath = (uint32_t)d->d_un.d_val;
		break;
	case DT_NEEDED:
		if (elf->needed_n < GT_ELF_NEEDED)
			elf->needed[elf->needed_n++] = (uint32_t)d->d_un.d_val;
		break;
	}
}

static void read_dynamic(struct gt_elf_names *elf, int fd, const ElfW(Phdr) *seg)
{
	ElfW(Dyn) entries[32];
	size_t n = seg->p_filesz / sizeof(entries[0]);

	for (size_t i = 0; i < n && i < DYNAMIC; i += sizeof(entries) / sizeof(entries[0])) {
		size_t here = n - i < 32 ? n - i : 32;

		if (!read_at(fd, entries, here * sizeof(entries[0]), seg->p_offset + i * sizeof(entries[0])))
			return;
		for (size_t k = 0; k < here; k++) {
			if (entries[k].d_tag == DT_NULL)
				return;
			take(elf, &entries[k]);
		}
	}
}

static void take_load(struct gt_elf_names *elf, const ElfW(Phdr) *seg)
{
	if (elf->loads_n == GT_ELF_LOADS)
		return;
	elf->loads[elf->loads_n].address = seg->p_vaddr;
	elf->loads[elf->loads_n].size = seg->p_filesz;
	elf->loads[elf->loads_n++].offset = seg->p_offset;
}

static bool is_loadable(const ElfW(Ehdr) *h)
{
	const ElfW(Ehdr) *own = &__ehdr_start;

	return !memcmp(h->e_ident, ELFMAG, SELFMAG) && h->e_ident[EI_CLASS] == own->e_ident[EI_CLASS] &&
	       h->e_ident[EI_DATA] == own->e_ident[EI_DATA] && h->e_machine == own->e_machine &&
	       (h->e_type == ET_EXEC || h->e_type == ET_DYN) && h->e_phentsize == sizeof(ElfW(Phdr));
}

/* Most files have it all in the first read. */
bool gt_elf_names_read(struct gt_elf_names *elf, int fd)
{
	_Alignas(ElfW(Ehdr)) char head[sizeof(ElfW(Ehdr)) + 16 * sizeof(ElfW(Phdr))];
	ssize_t got = gt_sys_pread(fd, head, sizeof(head), 0);
	const ElfW(Ehdr) *h = (const ElfW(Ehdr) *)head;

	memset(elf, 0, sizeof(*elf));
	if (got < (ssize_t)sizeof(*h) || !is_loadable(h))
		return false;
	for (unsigned i = 0; i < h->e_phnum && i < 2 * GT_ELF_LOADS; i++) {
		uint64_t at = h->e_phoff + i * sizeof(ElfW(Phdr));
		ElfW(Phdr) seg;

		if (at + sizeof(seg) >= at && at + sizeof(seg) <= (uint64_t)got)
			memcpy(&seg, head + at, sizeof(seg));
		else if (!read_at(fd, &seg, sizeof(seg), at))
			break;
		if (seg.p_type == PT_LOAD)
			take_load(elf, &seg);
		else if (seg.p_type == PT_INTERP)
			elf->has_loader = true;
		else if (seg.p_type == PT_DYNAMIC)
			read_dynamic(elf, fd, &seg);
	}
	return true;
}

bool gt_elf_names_text(const struct gt_elf_names *elf, int fd, uint64_t offset, char *text, size_t size)
{
	uint64_t room, at = place(elf, elf->strings + offset, &room);
	ssize_t n = gt_sys_pread(fd, text, size < room ? size : room, at);

	return n > 0 && memchr(text, 0, (size_t)n);
}

/* ---- symbols ----------------------------------------------------------------------------------------- */

static bool is_symbol(const struct gt_elf_names *elf, int fd, uint32_t index, const char *name)
{
	size_t size = strlen(name) + 1;
	ElfW(Sym) symbol;
	char text[128];

	if (!read_address(elf, fd, &symbol, sizeof(symbol), elf->symbols + index * sizeof(symbol)) ||
	    symbol.st_shndx == SHN_UNDEF)
		return false;
	for (size_t at = 0; at < size; at += sizeof(text)) {
		size_t n = size - at < sizeof(text) ? size - at : sizeof(text);

		if (!read_address(elf, fd, text, n, elf->strings + symbol.st_name + at) ||
		    memcmp(text, name + at, n) != 0)
			return false;
	}
	return true;
}

static uint32_t gnu_hash_of(const char *name)
{
	uint32_t h = 5381;

	for (const unsigned char *c = (const unsigned char *)name; *c; c++)
		h = h * 33 + *c;
	return h;
}

/* How the table is built: https://sourceware.org/legacy-ml/binutils/2006-10/msg00377.html */
static bool in_gnu_hash(const struct gt_elf_names *elf, int fd, const char *name)
{
	uint32_t head[4]; /* buckets, first symbol, bloom words, shift */
	uint32_t index, value, hash = gnu_hash_of(name);
	const unsigned bits = 8 * sizeof(ElfW(Addr));
	ElfW(Addr) bloom;
	uint64_t buckets, chains;

	if (!read_address(elf, fd, head, sizeof(head), elf->gnu_hash))
		return false;
	if (!head[0] || !head[2] || head[3] > 31 ||
	    !read_address(elf, fd, &bloom, sizeof(bloom),
			  elf->gnu_hash + sizeof(head) + hash / bits % head[2] * sizeof(bloom)) ||
	    !(bloom >> hash % bits & bloom >> (hash >> head[3]) % bits & 1))
		return false;
	buckets = elf->gnu_hash + sizeof(head) + (uint64_t)head[2] * sizeof(bloom);
	chains = buckets + (uint64_t)head[0] * 4;
	if (!read_address(elf, fd, &index, 4, buckets + (uint64_t)(hash % head[0]) * 4) || index < head[1])
		return false;
	for (unsigned i = 0; i < CHAIN; i++, index++) {
		if (!read_address(elf, fd, &value, 4, chains + (uint64_t)(index - head[1]) * 4))
			return false;
		if ((value | 1) == (hash | 1) && is_symbol(elf, fd, index, name))
			return true;
		if (value & 1)
			return false;
	}
	return false;
}

static uint32_t hash_of(const char *name)
{
	uint32_t h = 0;

	for (const unsigned char *c = (const unsigned char *)name; *c; c++) {
		h = (h << 4) + *c;
		h ^= h >> 24 & 0xf0;
		h &= 0x0fffffff;
	}
	return h;
}

/* System V ABI, "Hash Table". */
static bool in_hash(const struct gt_elf_names *elf, int fd, const char *name)
{
	uint32_t head[2], index; /* buckets, symbols */

	if (!read_address(elf, fd, head, sizeof(head), elf->hash) || !head[0] ||
	    !read_address(elf, fd, &index, 4, elf->hash + 8 + (uint64_t)(hash_of(name) % head[0]) * 4))
		return false;
	for (unsigned i = 0; i < CHAIN && index; i++) {
		if (is_symbol(elf, fd, index, name))
			return true;
		if (!read_address(elf, fd, &index, 4, elf->hash + 8 + ((uint64_t)head[0] + index) * 4))
			return false;
	}
	return false;
}

bool gt_elf_names_defines(const struct gt_elf_names *elf, int fd, const char *symbol)
{
	return elf->gnu_hash ? in_gnu_hash(elf, fd, symbol) : elf->hash && in_hash(elf, fd, symbol);
}

void gt_elf_names_map(struct gt_elf_names *elf, int fd)
{
	struct stat st;

	if (gt_sys_fstat(fd, &st) || st.st_size <= 0)
		return;
	elf->map = gt_sys_mmap((size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd);
	elf->map_size = (uint64_t)st.st_size;
}

void gt_elf_names_unmap(struct gt_elf_names *elf)
{
	if (elf->map)
		gt_sys_munmap((void *)(uintptr_t)elf->map, elf->map_size);
	elf->map = NULL;
}
