/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ELF: from an offset in a mapped file to the symbol there; also finds the separate debug file.
 *
 * Limits: ELF files of this machine's byte order and both word sizes; no .gnu_debugdata
 * (compressed mini symbol tables), no ppc64 function descriptors.
 */
#include "config.h"

#include "lib/assemble/symbols_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum {
	SYMBOLS_MAX = 64 << 20, /* more than any real file has */
	READ_MAX = 32 << 20,	/* larger files are mapped instead of read */
};

/* ---- which name is best ---------------------------------------------------------------------- */

/*
 * Several symbols can have one address. The order, most important first: a function, then an IFUNC
 * (its symbol lies on the resolver), then a label; any with a size; not local; fewer leading
 * underscores (of C names); without a version; global before weak. Equal ones: the shorter name,
 * then the alphabet, so that the choice never depends on the order in the file.
 */
static uint32_t order_of(const char *name, unsigned type, unsigned bind, uint64_t size, bool plt)
{
	unsigned kind = plt ? 3 : type == STT_FUNC ? 0 : type == STT_GNU_IFUNC ? 1 : 2;
	unsigned underscores = 0;

	if (strncmp(name, "_Z", 2))
		while (underscores < 3 && name[underscores] == '_')
			underscores++;
	return kind << 8 | (size == 0) << 7 | (bind == STB_LOCAL) << 6 | underscores << 4 |
	       (strchr(name, '@') != NULL) << 3 | (bind == STB_WEAK) << 2;
}

static int compare(const void *va, const void *vb)
{
	const struct gt_elf_sym *a = va, *b = vb;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	if (a->order != b->order)
		return a->order < b->order ? -1 : 1;

	size_t la = strlen(a->name), lb = strlen(b->name);

	if (la != lb)
		return la < lb ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* ---- reading --------------------------------------------------------------------------------- */

static const struct gt_elf_segment *segment_of(const struct gt_elf *elf, uint64_t address)
{
	for (size_t i = 0; i < elf->segment_count; i++)
		if (elf->segments[i].executable && address >= elf->segments[i].address &&
		    address - elf->segments[i].address < elf->segments[i].size)
			return &elf->segments[i];
	return NULL;
}

static int read_segments(struct gt_elf *elf)
{
	size_t count;

	if (elf_getphdrnum(elf->handle, &count) || count > 65536)
		return -ENOEXEC;
	elf->segments = calloc(count ? count : 1, sizeof(*elf->segments));
	if (!elf->segments)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr phdr;

		if (!gelf_getphdr(elf->handle, (int)i, &phdr) || phdr.p_type != PT_LOAD ||
		    phdr.p_vaddr + phdr.p_filesz < phdr.p_vaddr ||
		    phdr.p_offset + phdr.p_filesz < phdr.p_offset)
			continue;
		elf->segments[elf->segment_count++] = (struct gt_elf_segment){
			phdr.p_offset, phdr.p_vaddr, phdr.p_filesz, phdr.p_flags & PF_X};
	}
	return elf->segment_count ? 0 : -ENOEXEC;
}

/*
 * The symbols of one table that can be functions are appended. `complete`: every function has a
 * symbol somewhere, so that one without a size reaches to the next.
 */
static int read_table(struct gt_elf *elf, Elf *file, Elf_Scn *scn, const GElf_Shdr *shdr,
		      bool complete)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t count = shdr->sh_entsize ? shdr->sh_size / shdr->sh_entsize : 0;
	struct gt_elf_sym *syms;

	if (!data || !data->d_buf || count > SYMBOLS_MAX)
		return 0;
	if (count > data->d_size / gelf_fsize(file, ELF_T_SYM, 1, EV_CURRENT))
		count = data->d_size / gelf_fsize(file, ELF_T_SYM, 1, EV_CURRENT);
	syms = realloc(elf->syms, (elf->sym_count + count + 1) * sizeof(*syms));
	if (!syms)
		return -ENOMEM;
	elf->syms = syms;
	for (size_t i = 1; i < count; i++) {
		const struct gt_elf_segment *segment;
		GElf_Shdr home;
		GElf_Sym sym;
		const char *name;
		unsigned type;
		bool plt;

		if (!gelf_getsym(data, (int)i, &sym) || !sym.st_value)
			continue;
		type = GELF_ST_TYPE(sym.st_info);
		if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
			continue;
		/* Undefined with a value: the one address of a shared library's function that a
		   program linked to a fixed address has, in its own .plt. */
		plt = sym.st_shndx == SHN_UNDEF && type == STT_FUNC;
		if (!plt && (sym.st_shndx == SHN_UNDEF || sym.st_shndx == SHN_ABS))
			continue;
		segment = segment_of(elf, sym.st_value);
		name = elf_strptr(file, shdr->sh_link, sym.st_name);
		if (!segment || !name || !*name || *name == '$' || strlen(name) >= GT_NAME_MAX)
			continue;
		uint64_t limit = segment->address + segment->size;

		if (!plt && sym.st_shndx < SHN_LORESERVE &&
		    gelf_getshdr(elf_getscn(file, sym.st_shndx), &home)) {
			if (!(home.sh_flags & SHF_EXECINSTR))
				continue;
			if (sym.st_value - home.sh_addr < home.sh_size)
				limit = home.sh_addr + home.sh_size;
		}
		if (!complete) /* what follows may be a function that has no symbol here */
			limit = sym.st_value + 1;
		elf->syms[elf->sym_count++] = (struct gt_elf_sym){
			sym.st_value, plt ? 0 : sym.st_size, limit, name,
			order_of(name, type, GELF_ST_BIND(sym.st_info), sym.st_size, plt)};
	}
	return 0;
}

static int read_tables(struct gt_elf *elf, Elf *file, unsigned wanted)
{
	bool complete = elf->has_symtab;
	Elf_Scn *scn = NULL;
	int rc = 0;

	while (!rc && (scn = elf_nextscn(file, scn))) {
		GElf_Shdr shdr;

		if (gelf_getshdr(scn, &shdr) && shdr.sh_type == wanted)
			rc = read_table(elf, file, scn, &shdr, complete);
	}
	return rc;
}

/* Keeps the best symbol of each address. The largest size among them is right for all. */
static void settle(struct gt_elf *elf)
{
	size_t kept = 0;

	if (!elf->sym_count)
		return;
	qsort(elf->syms, elf->sym_count, sizeof(*elf->syms), compare);
	for (size_t i = 1; i < elf->sym_count; i++) {
		struct gt_elf_sym *last = &elf->syms[kept], *s = &elf->syms[i];

		if (s->address != last->address)
			elf->syms[++kept] = *s;
		else if (!last->size)
			last->size = s->size;
	}
	elf->sym_count = kept + 1;
}

static bool is_debug_section(const char *name)
{
	return !strcmp(name, ".debug_info") || !strcmp(name, ".zdebug_info");
}

static void read_build_id(struct gt_elf_id *id, Elf_Scn *scn)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t at = 0, name, desc;
	GElf_Nhdr note;

	while (data && data->d_buf && (at = gelf_getnote(data, at, &note, &name, &desc)) > 0) {
		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 ||
		    memcmp((char *)data->d_buf + name, "GNU", 4))
			continue;
		if (note.n_descsz == 0 || note.n_descsz > sizeof(id->bytes))
			continue;
		id->count = note.n_descsz;
		memcpy(id->bytes, (char *)data->d_buf + desc, id->count);
		return;
	}
}

/* The name and the checksum that a stripped file has of its debug file. */
static void read_debug_link(struct gt_elf *elf, Elf_Scn *scn)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t length, at;

	if (!data || !data->d_buf || data->d_size < 8)
		return;
	length = strnlen(data->d_buf, data->d_size);
	at = (length + 4) & ~(size_t)3;
	if (!length || length > NAME_MAX || at + 4 > data->d_size || strchr(data->d_buf, '/'))
		return;
	memcpy(&elf->debug_crc, (char *)data->d_buf + at, 4);
	elf->debug_link = data->d_buf;
}

/* What the section headers say: which tables there are, build-id, debug link. */
static void look_at_sections(struct gt_elf *elf, Elf *file, struct gt_elf_id *id, bool *symtab,
			     bool *dwarf)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(file, &names))
		return;
	while ((scn = elf_nextscn(file, scn))) {
		GElf_Shdr shdr;
		const char *name;

		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type == SHT_NOBITS)
			continue;
		name = elf_strptr(file, names, shdr.sh_name);
		if (shdr.sh_type == SHT_SYMTAB)
			*symtab = true;
		else if (shdr.sh_type == SHT_NOTE && !id->count)
			read_build_id(id, scn);
		else if (name && is_debug_section(name))
			*dwarf = true;
		else if (elf && name && !strcmp(name, ".gnu_debuglink"))
			read_debug_link(elf, scn);
	}
}

/* ---- separate debug files -------------------------------------------------------------------- */

/* The checksum of .gnu_debuglink: CRC-32 of the whole file. */
static bool crc_of(int fd, uint32_t *out)
{
	static uint32_t table[256];
	uint8_t buffer[65536];
	uint32_t crc = ~0u;
	ssize_t n;
	off_t at = 0;

	for (uint32_t i = 0; i < 256 && !table[255]; i++) {
		uint32_t c = i;

		for (int bit = 0; bit < 8; bit++)
			c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
		table[i] = c;
	}
	while ((n = pread(fd, buffer, sizeof(buffer), at)) > 0) {
		for (ssize_t i = 0; i < n; i++)
			crc = table[(crc ^ buffer[i]) & 0xff] ^ crc >> 8;
		at += n;
	}
	*out = ~crc;
	return n == 0;
}

static Elf *open_elf(const char *path, int *fd, struct stat *st)
{
	Elf *file;

	*fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (*fd < 0)
		return NULL;
	/* Read, so that a file that shrinks meanwhile is no SIGBUS; but not gigabytes of it. */
	if (!fstat(*fd, st) && S_ISREG(st->st_mode) &&
	    (file = elf_begin(*fd, st->st_size > READ_MAX ? ELF_C_READ_MMAP : ELF_C_READ, NULL))) {
		if (elf_kind(file) == ELF_K_ELF)
			return file;
		elf_end(file);
	}
	close(*fd);
	*fd = -1;
	return NULL;
}

/* Takes `path` as the debug file if it belongs to this file: same build-id, else same checksum. */
static bool try_debug_file(struct gt_elf *elf, const char *path)
{
	struct gt_elf_id id = {.count = 0};
	bool symtab = false, dwarf = false;
	struct stat st;
	uint32_t crc;
	int fd;
	Elf *file = open_elf(path, &fd, &st);

	if (!file)
		return false;
	look_at_sections(NULL, file, &id, &symtab, &dwarf);
	if (elf->id.count ? id.count == elf->id.count && !memcmp(id.bytes, elf->id.bytes, id.count)
			  : elf->debug_link && crc_of(fd, &crc) && crc == elf->debug_crc) {
		elf->debug_handle = file;
		elf->debug_fd = fd;
		elf->has_symtab |= symtab;
		return true;
	}
	elf_end(file);
	close(fd);
	return false;
}

static void find_debug_file(struct gt_elf *elf, const char *path, const char *root)
{
	char name[PATH_MAX + NAME_MAX + 16];
	const char *slash = strrchr(path, '/');
	int folder = slash ? (int)(slash - path) : 0;

	if (elf->id.count > 1) {
		int n = snprintf(name, sizeof(name), "%s/.build-id/%02x/", root, elf->id.bytes[0]);

		for (size_t i = 1; i < elf->id.count && (size_t)n < sizeof(name); i++)
			n += snprintf(name + n, sizeof(name) - (size_t)n, "%02x", elf->id.bytes[i]);
		if ((size_t)n + 7 < sizeof(name)) {
			strcpy(name + n, ".debug");
			if (try_debug_file(elf, name))
				return;
		}
	}
	if (!elf->debug_link || !slash)
		return;
	snprintf(name, sizeof(name), "%.*s/%s", folder, path, elf->debug_link);
	if (strcmp(name, path) && try_debug_file(elf, name))
		return;
	snprintf(name, sizeof(name), "%.*s/.debug/%s", folder, path, elf->debug_link);
	if (try_debug_file(elf, name))
		return;
	snprintf(name, sizeof(name), "%s%.*s/%s", root, folder, path, elf->debug_link);
	try_debug_file(elf, name);
}

/* ---- the file -------------------------------------------------------------------------------- */

/*
 * Is it the file that was mapped? The inode comes from the memory map, and layered file systems
 * show another one there than stat() does, together with another device.
 */
static bool same_file(const struct gt_def_module *m, const struct stat *st)
{
	int64_t mtime = (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
	bool same_device = m->dev_major == major(st->st_dev) && m->dev_minor == minor(st->st_dev);

	return m->size == (uint64_t)st->st_size && m->mtime_ns == mtime &&
	       (m->inode == st->st_ino || !same_device);
}

int gt_elf_open(struct gt_elf *elf, const struct gt_def_module *module, const char *path,
		const char *debug_root)
{
	struct stat st;
	int rc;

	memset(elf, 0, sizeof(*elf));
	elf->fd = elf->debug_fd = -1;
	if (elf_version(EV_CURRENT) == EV_NONE)
		return -ENOTSUP;
	elf->handle = open_elf(path, &elf->fd, &st);
	if (!elf->handle)
		return -ENOENT;
	if (!same_file(module, &st)) {
		gt_elf_close(elf);
		return -ESTALE;
	}
	rc = read_segments(elf);
	if (!rc) {
		look_at_sections(elf, elf->handle, &elf->id, &elf->has_symtab, &elf->has_dwarf);
		if (!elf->has_symtab || !elf->has_dwarf)
			find_debug_file(elf, path, debug_root);
		rc = read_tables(elf, elf->handle, SHT_SYMTAB);
		if (!rc && elf->debug_handle)
			rc = read_tables(elf, elf->debug_handle, SHT_SYMTAB);
		/* Also beside a symbol table: that may have been stripped of some. */
		if (!rc)
			rc = read_tables(elf, elf->handle, SHT_DYNSYM);
		settle(elf);
	}
	if (rc)
		gt_elf_close(elf);
	return rc;
}

void gt_elf_close(struct gt_elf *elf)
{
	if (elf->debug_handle)
		elf_end(elf->debug_handle);
	if (elf->handle)
		elf_end(elf->handle);
	if (elf->debug_fd >= 0)
		close(elf->debug_fd);
	if (elf->fd >= 0)
		close(elf->fd);
	free(elf->segments);
	free(elf->syms);
	memset(elf, 0, sizeof(*elf));
	elf->fd = elf->debug_fd = -1;
}

bool gt_elf_address(const struct gt_elf *elf, uint64_t offset, uint64_t *address)
{
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < elf->segment_count; i++) {
			const struct gt_elf_segment *s = &elf->segments[i];

			/* Pages at the border of two segments are in the file once: code first. */
			if (s->executable == (pass == 0) && offset >= s->offset &&
			    offset - s->offset < s->size) {
				*address = s->address + (offset - s->offset);
				return true;
			}
		}
	return false;
}

const struct gt_elf_sym *gt_elf_find(const struct gt_elf *elf, uint64_t address)
{
	size_t low = 0, high = elf->sym_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (elf->syms[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	/* A symbol inside another function may end before the address, or be a mere label. */
	const struct gt_elf_sym *label = NULL;

	for (unsigned steps = 0; low > 0 && steps < 16; steps++, low--) {
		const struct gt_elf_sym *s = &elf->syms[low - 1];

		if (s->size && address - s->address < s->size)
			return s;
		if (!s->size && steps == 0 && address < s->limit)
			label = s;
	}
	return label;
}
