/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds where functions begin from the unwind tables (symbols_priv.h): .eh_frame_hdr is a sorted table of
 * them. All programs have it, stripped or not.
 *
 *	.eh_frame_hdr  version 1, three bytes of encodings, offset of .eh_frame, number of functions; then for
 *	               each function its begin and its description, relative to .eh_frame_hdr (encoding 0x3b)
 *	description    length, offset of what it shares, begin (relative to itself), length of the function
 *
 * Limits: little endian, and the encodings that all linkers write; else nothing is known. What a file says
 * is looked at before it is believed.
 */
#include "config.h"

#include "lib/assemble/names/symbols_priv.h"

#include <gelf.h>
#include <string.h>

enum { HEADER = 12, ENTRY = 8, DESCRIPTION = 16 };

static const unsigned char encodings[4] = { 1, 0x1b, 0x03, 0x3b };

static int32_t number(const unsigned char *at)
{
	int32_t n;

	memcpy(&n, at, sizeof(n));
	return n;
}

static void keep(Elf_Scn *scn, const GElf_Shdr *shdr, const unsigned char **to, size_t *size, uint64_t *at)
{
	Elf_Data *data = elf_rawdata(scn, NULL);

	if (!data || !data->d_buf)
		return;
	*to = data->d_buf;
	*size = data->d_size;
	*at = shdr->sh_addr;
}

void gt_elf_read_frames(struct gt_elf *elf)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf->handle, &names))
		return;
	while ((scn = elf_nextscn(elf->handle, scn))) {
		GElf_Shdr shdr;
		const char *name;

		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type == SHT_NOBITS)
			continue;
		name = elf_strptr(elf->handle, names, shdr.sh_name);
		if (name && !strcmp(name, ".eh_frame_hdr"))
			keep(scn, &shdr, &elf->index, &elf->index_size, &elf->index_at);
		else if (name && !strcmp(name, ".eh_frame"))
			keep(scn, &shdr, &elf->frames, &elf->frames_size, &elf->frames_at);
	}
}

/* Entries of the table; 0: it is not what it should be. */
static size_t entries(const struct gt_elf *elf)
{
	size_t most = elf->index && elf->index_size > HEADER ? (elf->index_size - HEADER) / ENTRY : 0, count;

	if (!most || memcmp(elf->index, encodings, sizeof(encodings)))
		return 0;
	count = (uint32_t)number(elf->index + 8);
	return count < most ? count : most;
}

static uint64_t begin_of(const struct gt_elf *elf, size_t i)
{
	return elf->index_at + (uint64_t)(int64_t)number(elf->index + HEADER + i * ENTRY);
}

/* Does the description of function i say that it reaches to the address? */
static bool reaches(const struct gt_elf *elf, size_t i, uint64_t address)
{
	uint64_t from = elf->index_at + (uint64_t)(int64_t)number(elf->index + HEADER + i * ENTRY + 4);
	uint64_t offset = from - elf->frames_at, begin;

	if (!elf->frames || elf->frames_size < DESCRIPTION || offset > elf->frames_size - DESCRIPTION)
		return false;
	begin = from + 8 + (uint64_t)(int64_t)number(elf->frames + offset + 8);
	return begin == begin_of(elf, i) && address - begin < (uint32_t)number(elf->frames + offset + 12);
}

uint64_t gt_elf_frame(const struct gt_elf *elf, uint64_t address)
{
	size_t low = 0, high = entries(elf);

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (begin_of(elf, middle) <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && reaches(elf, low - 1, address) ? begin_of(elf, low - 1) : 0;
}
