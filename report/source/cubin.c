/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Line tables of cubins by libdw.
 *
 * A cubin's functions have sections of their own, all at address 0, and relocations in .debug_line say which
 * is meant. Here each section is put at its number << 32. NVIDIA's line tables have inlined calls (DW_LNE
 * 0x90): a row names another row, the one of the call, by its number. libdw reads that as a number in the
 * whole table; nvcc counts from 1 in each sequence, so the number is taken back and counted anew.
 */
#include "config.h"

#include "report/source/cubin.h"

#include "lib/assemble/util/io.h"

#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define BYTES_MOST (1u << 30)
#define TEXT_MOST  (1u << 28)
#define ROWS_MOST  (1u << 24)

struct row {
	uint64_t address; /* section << 32 | offset */
	const char *file, *function;
	uint32_t line;
	uint32_t call;    /* row + 1 of the inlined call that it is in; 0: none */
	bool end;
};

struct text {
	const char *function;
	uint64_t offset;
	const char *text;
};

struct gt_cubin {
	char *image;
	size_t bytes;
	Elf *elf;
	Dwarf *dwarf;
	Elf_Data *symbols;
	size_t symbol_count, names; /* names: section of the symbols' names */
	struct row *rows;
	size_t count, room;
	int folder;
	uint64_t crc;
	char *listing; /* nvdisasm's, cut to pieces */
	struct text *texts;
	size_t text_count, text_room;
};

/* ---- ELF ----------------------------------------------------------------------------------------- */

static char *load(int folder, uint64_t crc, size_t *bytes)
{
	char name[64], *image = NULL;
	struct stat st;
	int fd;

	snprintf(name, sizeof(name), "%016" PRIx64 ".cubin", crc);
	fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 0 && st.st_size < BYTES_MOST)
		image = malloc((size_t)st.st_size);
	if (image && gt_read_at(fd, image, (size_t)st.st_size, 0) != (ssize_t)st.st_size) {
		free(image);
		image = NULL;
	}
	*bytes = image ? (size_t)st.st_size : 0;
	close(fd);
	return image;
}

static const char *section_name(Elf *elf, Elf_Scn *section, GElf_Shdr *header)
{
	size_t names;
	const char *name = NULL;

	if (!elf_getshdrstrndx(elf, &names) && gelf_getshdr(section, header))
		name = elf_strptr(elf, names, header->sh_name);
	return name ? name : "";
}

static void find_symbols(struct gt_cubin *c)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(c->elf, section)))
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_SYMTAB && header.sh_entsize) {
			c->symbols = elf_getdata(section, NULL);
			c->symbol_count = c->symbols ? header.sh_size / header.sh_entsize : 0;
			c->names = header.sh_link;
			return;
		}
}

/* Which function an address of .debug_line is in. */
static void relocate_one(struct gt_cubin *c, const GElf_Shdr *lines, uint64_t place, size_t symbol,
			 int64_t addend)
{
	GElf_Sym sym;
	uint64_t address;

	if (place > lines->sh_size || lines->sh_size - place < sizeof(address) || symbol >= c->symbol_count ||
	    !gelf_getsym(c->symbols, (int)symbol, &sym))
		return;
	address = ((uint64_t)sym.st_shndx << 32) + sym.st_value + (uint64_t)addend;
	memcpy(c->image + lines->sh_offset + place, &address, sizeof(address));
}

static void relocate_from(struct gt_cubin *c, Elf_Scn *section, const GElf_Shdr *header,
			  const GElf_Shdr *lines)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t n = data && header->sh_entsize ? header->sh_size / header->sh_entsize : 0;
	GElf_Rela rela;
	GElf_Rel rel;

	for (size_t i = 0; i < n && header->sh_type == SHT_RELA; i++)
		if (gelf_getrela(data, (int)i, &rela))
			relocate_one(c, lines, rela.r_offset, GELF_R_SYM(rela.r_info), rela.r_addend);
	for (size_t i = 0; i < n && header->sh_type == SHT_REL; i++)
		if (gelf_getrel(data, (int)i, &rel))
			relocate_one(c, lines, rel.r_offset, GELF_R_SYM(rel.r_info), 0);
}

static void relocate(struct gt_cubin *c)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header, lines = { .sh_size = 0 };
	size_t number = 0;

	while ((section = elf_nextscn(c->elf, section)))
		if (!strcmp(section_name(c->elf, section, &header), ".debug_line")) {
			number = elf_ndxscn(section);
			lines = header;
		}
	if (!number || lines.sh_type == SHT_NOBITS || lines.sh_offset > c->bytes ||
	    lines.sh_size > c->bytes - lines.sh_offset)
		return;
	while ((section = elf_nextscn(c->elf, section)))
		if (gelf_getshdr(section, &header) && header.sh_info == number)
			relocate_from(c, section, &header, &lines);
}

/* ---- lines --------------------------------------------------------------------------------------- */

static bool add_row(struct gt_cubin *c, const struct row *row)
{
	if (c->count == c->room) {
		size_t room = c->room ? 2 * c->room : 256;
		struct row *rows = room > ROWS_MOST ? NULL : realloc(c->rows, room * sizeof(*rows));

		if (!rows)
			return false;
		c->rows = rows;
		c->room = room;
	}
	c->rows[c->count++] = *row;
	return true;
}

/* The row of the call, counted from the begin of its sequence (as nvcc does), or else of the table. */
static uint32_t call_of(Dwarf_Lines *lines, Dwarf_Line *line, size_t at, size_t sequence)
{
	Dwarf_Line *call = dwarf_linecontext(lines, line);
	const char *first = (const char *)dwarf_onesrcline(lines, 0);
	size_t size = (size_t)((const char *)dwarf_onesrcline(lines, 1) - first), n;

	if (!call || !size)
		return 0;
	n = (size_t)((const char *)call - first) / size;
	if (sequence + n < at)
		return (uint32_t)(sequence + n + 1);
	return n < at ? (uint32_t)(n + 1) : 0;
}

static void add_table(struct gt_cubin *c, Dwarf_Lines *lines, size_t count)
{
	size_t begin = c->count, sequence = 0;

	for (size_t i = 0; i < count; i++) {
		Dwarf_Line *line = dwarf_onesrcline(lines, i);
		struct row row = { .line = 0 };
		int number = 0;
		uint32_t call;

		if (!line || dwarf_lineaddr(line, &row.address) || dwarf_lineno(line, &number) ||
		    dwarf_lineendsequence(line, &row.end))
			return;
		row.line = number > 0 ? (uint32_t)number : 0;
		row.file = dwarf_linesrc(line, NULL, NULL);
		row.function = dwarf_linefunctionname(c->dwarf, line);
		call = count > 1 ? call_of(lines, line, i, sequence) : 0;
		row.call = call ? (uint32_t)(begin + call) : 0;
		if (!row.call)
			row.function = NULL;
		if (!add_row(c, &row))
			return;
		if (row.end)
			sequence = i + 1;
	}
}

static void read_lines(struct gt_cubin *c)
{
	Dwarf_Off at = 0, next;
	Dwarf_CU *unit = NULL;
	Dwarf_Files *files;
	Dwarf_Lines *lines;
	size_t file_count, count;

	while (c->dwarf &&
	       !dwarf_next_lines(c->dwarf, at, &next, &unit, &files, &file_count, &lines, &count)) {
		if (lines)
			add_table(c, lines, count);
		if (next <= at)
			return;
		at = next;
	}
}

struct gt_cubin *gt_cubin_open(int folder, uint64_t crc)
{
	struct gt_cubin *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	elf_version(EV_CURRENT);
	c->folder = folder;
	c->crc = crc;
	c->image = load(folder, crc, &c->bytes);
	c->elf = c->image ? elf_memory(c->image, c->bytes) : NULL;
	if (!c->elf || elf_kind(c->elf) != ELF_K_ELF) {
		gt_cubin_close(c);
		return NULL;
	}
	find_symbols(c);
	relocate(c);
	c->dwarf = dwarf_begin_elf(c->elf, DWARF_C_READ, NULL);
	read_lines(c);
	return c;
}

void gt_cubin_close(struct gt_cubin *c)
{
	if (!c)
		return;
	if (c->dwarf)
		dwarf_end(c->dwarf);
	if (c->elf)
		elf_end(c->elf);
	free(c->image);
	free(c->rows);
	free(c->texts);
	free(c->listing);
	free(c);
}

bool gt_cubin_has_lines(const struct gt_cubin *c)
{
	return c->count;
}

static bool is_function(const struct gt_cubin *c, size_t index, const char *name, GElf_Sym *sym)
{
	const char *text;

	if (index >= c->symbol_count || !gelf_getsym(c->symbols, (int)index, sym) ||
	    GELF_ST_TYPE(sym->st_info) != STT_FUNC)
		return false;
	text = elf_strptr(c->elf, c->names, sym->st_name);
	return text && !strcmp(text, name);
}

static uint64_t address_of(const struct gt_cubin *c, uint32_t index, const char *name, uint64_t offset)
{
	GElf_Sym sym;
	size_t at = index;

	for (size_t i = 0; !is_function(c, at, name, &sym); at = i++)
		if (i >= c->symbol_count)
			return 0;
	return ((uint64_t)sym.st_shndx << 32) + sym.st_value + offset;
}

/* The last row at or below the address, in its section. Tables may come in any order. */
static const struct row *row_of(const struct gt_cubin *c, uint64_t address)
{
	const struct row *best = NULL;

	for (size_t i = 0; i < c->count; i++) {
		const struct row *row = &c->rows[i];

		if (row->address <= address && row->address >> 32 == address >> 32 &&
		    (!best || row->address >= best->address))
			best = row;
	}
	return best && !best->end ? best : NULL;
}

size_t gt_cubin_frames(const struct gt_cubin *c, uint32_t index, const char *name, uint64_t offset,
		       struct gt_cubin_frame *frames)
{
	uint64_t address = address_of(c, index, name, offset);
	const struct row *row = address ? row_of(c, address) : NULL;
	size_t n = 0;

	for (; row && n < GT_CUBIN_FRAMES; row = row->call ? &c->rows[row->call - 1] : NULL)
		frames[n++] = (struct gt_cubin_frame){ row->file ? row->file : "", row->line, row->function };
	return n;
}

/* ---- text ---------------------------------------------------------------------------------------- */

static _Noreturn void disassemble(int folder, uint64_t crc, int to)
{
	static const char *const places[] = { "nvdisasm", "/usr/local/cuda/bin/nvdisasm",
					      "/opt/cuda/bin/nvdisasm" };
	char name[64];
	int none = open("/dev/null", O_WRONLY);

	snprintf(name, sizeof(name), "./%016" PRIx64 ".cubin", crc);
	if (fchdir(folder) || dup2(to, 1) < 0 || none < 0 || dup2(none, 2) < 0)
		_exit(127);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		execlp(places[i], "nvdisasm", "-c", name, (char *)NULL);
	_exit(127);
}

/* All that the other end writes; NULL without memory. */
static char *read_all(int fd)
{
	size_t room = 1 << 16, used = 0;
	char *text = malloc(room);
	ssize_t n;

	while (text && (n = read(fd, text + used, room - 1 - used)) > 0) {
		used += (size_t)n;
		if (used < room - 1)
			continue;
		room *= 2;
		if (room > TEXT_MOST)
			break;
		text = reallocarray(text, room, 1);
	}
	if (text)
		text[used] = 0;
	return text;
}

static void add_text(struct gt_cubin *c, const char *function, char *line)
{
	char *at = strstr(line, "/*"), *end;
	uint64_t offset;

	if (!at)
		return;
	offset = strtoull(at + 2, &end, 16);
	if (end == at + 2 || strncmp(end, "*/", 2))
		return;
	at = end + 2 + strspn(end + 2, " \t");
	end = strchr(at, ';');
	if (!end)
		return;
	while (end > at && end[-1] == ' ')
		end--;
	*end = 0;
	if (c->text_count == c->text_room) {
		size_t room = c->text_room ? 2 * c->text_room : 256;
		struct text *texts = realloc(c->texts, room * sizeof(*texts));

		if (!texts)
			return;
		c->texts = texts;
		c->text_room = room;
	}
	c->texts[c->text_count++] = (struct text){ function, offset, at };
}

/* ".text.NAME:" begins a function, "/ *0010* /  LDC ... ;" is an instruction of it. */
static void read_listing(struct gt_cubin *c)
{
	char *rest = c->listing, *line, *function = NULL;

	while ((line = strsep(&rest, "\n"))) {
		size_t n = strlen(line);

		if (!strncmp(line, ".text.", 6) && line[n - 1] == ':') {
			line[n - 1] = 0;
			function = line + 6;
		} else if (function) {
			add_text(c, function, line);
		}
	}
}

bool gt_cubin_disassemble(struct gt_cubin *c)
{
	int ends[2], status = 0;
	pid_t pid;

	if (c->listing)
		return c->text_count;
	if (pipe2(ends, O_CLOEXEC))
		return false;
	pid = fork();
	if (pid == 0)
		disassemble(c->folder, c->crc, ends[1]);
	close(ends[1]);
	c->listing = pid > 0 ? read_all(ends[0]) : NULL;
	close(ends[0]);
	if (pid > 0)
		waitpid(pid, &status, 0);
	if (c->listing)
		read_listing(c);
	return c->text_count;
}

const char *gt_cubin_text(const struct gt_cubin *c, const char *name, uint64_t offset)
{
	for (size_t i = 0; i < c->text_count; i++)
		if (c->texts[i].offset == offset && !strcmp(c->texts[i].function, name))
			return c->texts[i].text;
	return NULL;
}
