/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ELF: from an offset in a mapped file to the symbol there. Libdwfl finds what a stripped file has
 * elsewhere: a debug file (by build-id or .gnu_debuglink), or the symbols in .gnu_debugdata.
 *
 * Limits: ELF files of this machine's byte order and both word sizes; no ppc64 function descriptors.
 */
#include "config.h"

#include "lib/assemble/names/symbols_priv.h"

#include <elfutils/libdwfl.h>
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

/* Reads the section headers: which tables there are. */
static void look_at_sections(Elf *file, bool *symtab, bool *dwarf)
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
		else if (name && (!strcmp(name, ".debug_info") || !strcmp(name, ".zdebug_info")))
			*dwarf = true;
	}
}

static Elf *read_elf(int fd, struct stat *st)
{
	Elf *file;

	/* Read, so that a file that shrinks meanwhile is no SIGBUS; but not gigabytes of it. */
	if (!fstat(fd, st) && S_ISREG(st->st_mode) &&
	    (file = elf_begin(fd, st->st_size > READ_MAX ? ELF_C_READ_MMAP : ELF_C_READ, NULL))) {
		if (elf_kind(file) == ELF_K_ELF)
			return file;
		elf_end(file);
	}
	return NULL;
}

/* ---- separate symbols ------------------------------------------------------------------------ */

/* Callbacks of libdwfl: it works on the file that is open already, and opens no other. */
static int find_elf(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base, char **path,
		    Elf **out)
{
	struct gt_elf *elf = *user;

	(void)module, (void)base;
	*path = strdup(name);
	*out = elf_begin(elf->fd, ELF_C_READ, elf->handle); /* one more reference */
	return -1;
}

/* Is there a file where libdwfl looks for one by its name, or something that only it can judge? */
static bool is_named(const char *file, const char *link, const char *debug_root)
{
	const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file;
	const char *roots[] = { "", "", debug_root }, *folders[] = { "", ".debug/", "" };
	bool linked = link && *link;
	char path[3 * PATH_MAX];

	for (unsigned i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s%.*s%s%s%s", roots[i], (int)(base - file), file, folders[i],
			 linked ? link : base, linked ? "" : ".debug");
		if (!access(path, F_OK) || (errno != ENOENT && errno != ENOTDIR))
			return true;
	}
	return false;
}

static bool is_named_anywhere(const char *file, const char *link, const char *debug_root)
{
	char target[PATH_MAX];

	return is_named(file, link, debug_root) || !realpath(file, target) ||
	       (strcmp(file, target) && is_named(target, link, debug_root));
}

/*
 * Libdwfl compares build-ids, or checksums where there are none; without either it would take any file of
 * the right name. It asks no server: gt_symbols_new() sees to that. But before it does not ask, it loads
 * what it would ask with, thirty libraries for the network: so where there is nothing, it is not called. The
 * second question is for what several debug files share (dwz), which libdw finds by itself later.
 */
static int find_debuginfo(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
			  const char *path, const char *link, GElf_Word crc, char **found)
{
	struct gt_elf *elf = *user;
	const unsigned char *id;
	GElf_Addr at;
	bool has_id = dwfl_module_build_id(module, &id, &at) > 0;
	int fd = -1;

	if (elf->debug_fd >= 0 || (!(link && crc) && !has_id))
		return -1;
	if (has_id)
		fd = dwfl_build_id_find_debuginfo(module, user, name, base, path, link, crc, found);
	if (fd < 0 && is_named_anywhere(path, link, elf->debug_root))
		fd = dwfl_standard_find_debuginfo(module, user, name, base, path, link, crc, found);
	if (fd >= 0)
		elf->debug_fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	return fd;
}

/* .gnu_debugdata, a compressed ELF file with the functions that are not in .dynsym. */
static void find_mini_symbols(struct gt_elf *elf, Dwfl_Module *module)
{
	for (int i = dwfl_module_getsymtab(module) - 1; i >= 0; i--) {
		GElf_Addr address, bias;
		GElf_Sym sym;
		Elf *file = NULL;

		if (!dwfl_module_getsym_info(module, i, &sym, &address, NULL, &file, &bias) || !file ||
		    file == elf->handle)
			continue;
		elf->mini_handle = elf_begin(-1, ELF_C_READ, file); /* one more reference */
		elf->has_symtab = elf->mini_handle != NULL;
		return;
	}
}

static void ask_libdwfl(struct gt_elf *elf, Dwfl_Module *module)
{
	bool dwarf = false;
	struct stat st;
	GElf_Addr bias;

	if (!elf->has_symtab)
		dwfl_module_getsymtab(module);
	else
		dwfl_module_getdwarf(module, &bias);
	if (elf->debug_fd >= 0)
		elf->debug_handle = read_elf(elf->debug_fd, &st);
	if (elf->debug_handle)
		look_at_sections(elf->debug_handle, &elf->has_symtab, &dwarf);
	if (!elf->has_symtab)
		find_mini_symbols(elf, module);
}

static void find_symbols_elsewhere(struct gt_elf *elf, const char *path, const char *debug_root)
{
	char text[PATH_MAX + 16], *folders = text;
	const Dwfl_Callbacks callbacks = {.find_elf = find_elf,
					  .find_debuginfo = find_debuginfo,
					  .debuginfo_path = &folders};
	Dwfl_Module *module;
	void **user;
	Dwfl *dwfl = dwfl_begin(&callbacks);

	if (!dwfl)
		return;
	snprintf(text, sizeof(text), ":.debug:%s", debug_root);
	elf->debug_root = debug_root;
	dwfl_report_begin(dwfl);
	module = dwfl_report_module(dwfl, path, 0, UINT64_MAX);
	dwfl_report_end(dwfl, NULL, NULL);
	if (module && dwfl_module_info(module, &user, NULL, NULL, NULL, NULL, NULL, NULL)) {
		*user = elf;
		ask_libdwfl(elf, module);
	}
	dwfl_end(dwfl);
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
	elf->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	elf->handle = elf->fd < 0 ? NULL : read_elf(elf->fd, &st);
	if (!elf->handle) {
		gt_elf_close(elf);
		return -ENOENT;
	}
	if (!same_file(module, &st)) {
		gt_elf_close(elf);
		return -ESTALE;
	}
	rc = read_segments(elf);
	if (!rc) {
		look_at_sections(elf->handle, &elf->has_symtab, &elf->has_dwarf);
		if (!elf->has_symtab || !elf->has_dwarf)
			find_symbols_elsewhere(elf, path, debug_root);
		rc = read_tables(elf, elf->handle, SHT_SYMTAB);
		if (!rc && elf->debug_handle)
			rc = read_tables(elf, elf->debug_handle, SHT_SYMTAB);
		if (!rc && elf->mini_handle)
			rc = read_tables(elf, elf->mini_handle, SHT_SYMTAB);
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
	if (elf->mini_handle)
		elf_end(elf->mini_handle);
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

/* ---- variables -------------------------------------------------------------------------------- */

static const char *variable_in(Elf *file, Elf_Scn *scn, const GElf_Shdr *shdr, uint64_t address)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t count = data ? data->d_size / gelf_fsize(file, ELF_T_SYM, 1, EV_CURRENT) : 0;
	GElf_Sym sym;

	for (size_t i = 1; i < count; i++)
		if (gelf_getsym(data, (int)i, &sym) && GELF_ST_TYPE(sym.st_info) == STT_OBJECT &&
		    sym.st_shndx != SHN_UNDEF && address >= sym.st_value &&
		    address - sym.st_value < sym.st_size)
			return elf_strptr(file, shdr->sh_link, sym.st_name);
	return NULL;
}

static const char *variable_of(Elf *file, uint64_t address)
{
	const char *name = NULL;
	Elf_Scn *scn = NULL;

	while (file && !name && (scn = elf_nextscn(file, scn))) {
		GElf_Shdr shdr;

		if (gelf_getshdr(scn, &shdr) && (shdr.sh_type == SHT_SYMTAB || shdr.sh_type == SHT_DYNSYM))
			name = variable_in(file, scn, &shdr, address);
	}
	return name;
}

const char *gt_elf_variable(const struct gt_elf *elf, uint64_t address)
{
	const char *name = variable_of(elf->handle, address);

	return name ? name : variable_of(elf->debug_handle, address);
}
