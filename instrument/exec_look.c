/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds out what kind of program is about to be started, and makes an environment that it can run with;
 * see exec_look.h.
 *
 * What the program hands over may be no address at all: then the kernel refuses the call, and that has to be
 * left to it. So the kernel is asked first whether it can be read.
 *
 * Limits: 24 program headers and 4 scripts deep are looked at. A confined process cannot ask the kernel.
 */
#include "instrument/exec_look.h"

#include "instrument/shown.h"
#include "lib/common/needed.h"
#include "lib/common/text.h"
#include "lib/record/record.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>

#define PRELOAD     "LD_PRELOAD="
#define WHOLE       GT_PRELOAD_VAR "="
#define OURS        GT_NEEDED_OURS
#define MAX_HEADERS 24
#define MAX_SCRIPTS 4
#define NAME_ROOM   256
/* The loader, the C library, a stack and a heap (2.5 MB), and our libraries with what they map at first. */
#define LEAST_ROOM (UINT64_C(4) << 20)

/* Enough for the program headers and the loader's name in most programs. */
struct head {
	_Alignas(ElfW(Ehdr)) char text[1024];
	size_t bytes;
};

enum kind { FINE, SCRIPT, STATIC, FOREIGN, PRIVILEGED, ALONE, TIGHT };

static bool preloaded; /* this process was */

static const struct gt_shown shown_rows[] = {
#define GT_SHOWN_WITH(library, symbol) { library, symbol },
#include "registry/adapters.def"
};
enum { ROWS = sizeof(shown_rows) / sizeof(shown_rows[0]) };

/* Of this library itself; the linker makes it. */
extern const ElfW(Ehdr) __ehdr_start GT_HIDDEN;

/* Which loader has loaded this process? From the program headers that the kernel has told. */
static const char *own_loader(void)
{
	const ElfW(Phdr) *seg = (const ElfW(Phdr) *)getauxval(AT_PHDR);
	size_t n = getauxval(AT_PHNUM);
	const char *base = NULL;

	for (size_t i = 0; seg && i < n; i++) {
		if (seg[i].p_type == PT_PHDR)
			base = (const char *)seg - seg[i].p_vaddr;
		if (seg[i].p_type == PT_INTERP)
			return gt_text_base(base + seg[i].p_vaddr);
	}
	return NULL;
}

/*
 * Would the loader find room for our libraries? Where it does not, it does not start the program: it can
 * do without a library in LD_PRELOAD, but not without one that such a library needs.
 */
static bool has_room(const ElfW(Phdr) *seg, size_t n)
{
	uint64_t limit = gt_sys_limit(RLIMIT_AS), need = LEAST_ROOM;

	for (size_t i = 0; i < n; i++)
		need += seg[i].p_type == PT_LOAD ? seg[i].p_memsz : 0;
	return need <= limit;
}

static enum kind of_loader(const char *interpreter)
{
	const char *own = own_loader();

	return own && strcmp(own, gt_text_base(interpreter)) ? FOREIGN : FINE;
}

/* A loader that is called by hand (ld.so ./program) obeys LD_PRELOAD, unless it is musl's. */
static enum kind of_static(const char *name)
{
	bool loader = !strncmp(name, "ld-", 3) || !strncmp(name, "ld.so", 5);

	return !loader ? STATIC : !strncmp(name, "ld-musl", 7) ? FOREIGN : FINE;
}

/* A part of the file, of which the beginning has been read. */
static ssize_t part(int fd, const struct head *head, void *to, size_t size, uint64_t offset)
{
	if (offset > head->bytes || size > head->bytes - offset)
		return gt_sys_pread(fd, to, size, offset);
	memcpy(to, head->text + offset, size);
	return (ssize_t)size;
}

static enum kind look_at_elf(int fd, const struct head *head, const char *name)
{
	const ElfW(Ehdr) *h = (const ElfW(Ehdr) *)head->text;
	ElfW(Phdr) seg[MAX_HEADERS];
	size_t n = h->e_phnum < MAX_HEADERS ? h->e_phnum : MAX_HEADERS;
	char interpreter[NAME_ROOM];
	enum kind kind;
	ssize_t got;

	if (h->e_ident[EI_CLASS] != __ehdr_start.e_ident[EI_CLASS] ||
	    h->e_ident[EI_DATA] != __ehdr_start.e_ident[EI_DATA] ||
	    h->e_machine != __ehdr_start.e_machine)
		return FOREIGN;
	got = part(fd, head, seg, n * sizeof(seg[0]), h->e_phoff);
	if (got != (ssize_t)(n * sizeof(seg[0])) || h->e_phentsize != sizeof(seg[0]))
		return FINE;
	for (size_t i = 0; i < n; i++) {
		if (seg[i].p_type != PT_INTERP)
			continue;
		if (seg[i].p_filesz >= sizeof(interpreter))
			return FINE;
		got = part(fd, head, interpreter, seg[i].p_filesz, seg[i].p_offset);
		if (got <= 0)
			return FINE;
		interpreter[got] = 0;
		kind = of_loader(interpreter);
		return kind == FINE && !has_room(seg, n) ? TIGHT : kind;
	}
	return of_static(name);
}

/* Will the loader take nothing from the environment? As the kernel sets AT_SECURE. */
static bool is_privileged(int fd)
{
	uid_t user, next, saved;
	gid_t group, next_group, saved_group;
	bool bits, capabilities;
	struct stat st;

	if (gt_sys_fstat(fd, &st) || GT_SYS3(SYS_getresuid, &user, &next, &saved) ||
	    GT_SYS3(SYS_getresgid, &group, &next_group, &saved_group))
		return false;
	bits = st.st_mode & (S_ISUID | S_ISGID);
	capabilities = user && GT_SYS4(SYS_fgetxattr, fd, "security.capability", NULL, 0) > 0;
	if ((bits || capabilities) && gt_syscall6(SYS_prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0, 0) == 1)
		return user != next || group != next_group;
	if (st.st_mode & S_ISUID)
		next = st.st_uid;
	if ((st.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP))
		next_group = st.st_gid;
	return capabilities || user != next || group != next_group;
}

/* A script's program replaces `name`. */
static enum kind look_at(int fd, char *name, size_t size)
{
	struct head head;
	ssize_t n = gt_sys_pread(fd, head.text, sizeof(head.text), 0);
	char *at = head.text + 2;

	head.bytes = n < 0 ? 0 : (size_t)n;
	if (n >= (ssize_t)sizeof(ElfW(Ehdr)) && !memcmp(head.text, ELFMAG, SELFMAG))
		return is_privileged(fd) ? PRIVILEGED : look_at_elf(fd, &head, gt_text_base(name));
	if (n < 2 || memcmp(head.text, "#!", 2))
		return FINE;
	head.text[n < NAME_ROOM ? n : NAME_ROOM - 1] = 0;
	while (*at == ' ' || *at == '\t')
		at++;
	at[strcspn(at, " \t\n")] = 0;
	gt_text(name, size, "%s", at);
	return SCRIPT;
}

static int open_program(int dir, const char *path)
{
	return gt_sys_openat(dir, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
}

/* The file that execvp() would find. */
static int search_path(char *found, size_t size, const char *file)
{
	const char *path = gt_text_env(environ, "PATH");
	int fd = -1;

	for (path = path ? path : "/bin:/usr/bin"; fd < 0; path++) {
		size_t n = strcspn(path, ":");

		if (n + strlen(file) + 2 < size) {
			memcpy(found, path, n);
			gt_text(found + n, size - n, "%s%s", n ? "/" : "", file);
			if (!GT_SYS3(SYS_faccessat, AT_FDCWD, found, X_OK))
				fd = open_program(AT_FDCWD, found);
		}
		path += n;
		if (!*path)
			break;
	}
	return fd;
}

/* What cannot be read may see all. A text that is no script is one of the shell's. */
static uint32_t shown_to(int fd, char *const *envp)
{
	const struct gt_needed ask = { .rows = shown_rows,
				       .count = ROWS,
				       .library_path = gt_text_env(envp, "LD_LIBRARY_PATH"),
				       .preload = gt_text_env(envp, "LD_PRELOAD") };
	char head[SELFMAG] = "";
	ssize_t n = gt_sys_pread(fd, head, sizeof(head), 0);

	if (n < 0)
		return UINT32_MAX;
	return n < SELFMAG || memcmp(head, ELFMAG, SELFMAG) ? 0 : gt_needed_by_program(&ask, fd);
}

static enum kind kind_of(int dir, const char *file, bool search, char *const *envp, uint32_t *shown)
{
	char name[1024];
	enum kind kind = SCRIPT;
	struct stat own;

	*shown = UINT32_MAX;
	if (strlen(file) >= sizeof(name))
		return FINE;
	if (*file)
		gt_text(name, sizeof(name), "%s", file);
	else
		gt_text(name, sizeof(name), "/proc/self/fd/%d", dir);
	for (int depth = 0; kind == SCRIPT && depth < MAX_SCRIPTS; depth++) {
		int fd = search && !strchr(name, '/') ? search_path(name, sizeof(name), file)
						      : open_program(dir, name);

		if (fd >= 0 && gt_sys_fstat(fd, &own))
			fd = -1; /* another thread has closed it */
		kind = fd < 0 ? FINE : look_at(fd, name, sizeof(name));
		if (fd >= 0 && kind == FINE)
			*shown = shown_to(fd, envp);
		if (fd >= 0)
			gt_sys_close_own(fd, &own);
		dir = AT_FDCWD;
		search = false;
	}
	return kind;
}

/* ---- what can be read ------------------------------------------------------------------------ */

#define PAGE ((uintptr_t)4096) /* larger ones are several of these */

/* Pages that can be read, as far as that has been asked. */
struct readable {
	uintptr_t from, to;
};

static bool page_readable(struct readable *known, uintptr_t at)
{
	uintptr_t page = at & ~(PAGE - 1);

	if (page - known->from < known->to - known->from)
		return true;
	if (!gt_sys_readable((const void *)(page + 8))) /* not of 0, which is no address to the kernel */
		return false;
	if (page == known->to)
		known->to += PAGE;
	else
		*known = (struct readable){ page, page + PAGE };
	return true;
}

static bool pointer_readable(struct readable *known, char *const *at)
{
	uintptr_t first = (uintptr_t)at;

	return page_readable(known, first) && page_readable(known, first + sizeof(*at) - 1);
}

/* Is it a string, of less than `limit` bytes? */
static bool string_readable(struct readable *known, const char *text, size_t limit)
{
	for (size_t length = 0; length < limit;) {
		uintptr_t at = (uintptr_t)text + length;
		size_t rest = PAGE - at % PAGE;
		const char *end;

		if (!page_readable(known, at))
			return false;
		end = memchr((const char *)at, 0, rest);
		if (end)
			return (size_t)(end - text) < limit;
		length += rest;
	}
	return false;
}

/* The longest that Linux takes, with the end: of a path, and of a string of the environment. */
#define PATH_LIMIT   4096
#define STRING_LIMIT 131072

/* Will the kernel take them? */
static bool all_readable(const char *file, char *const *envp)
{
	struct readable strings = { 0, 0 }, pointers = { 0, 0 };

	if (!file || !string_readable(&strings, file, PATH_LIMIT))
		return false;
	for (; envp; envp++) {
		if (!pointer_readable(&pointers, envp))
			return false;
		if (!*envp)
			return true;
		if (!string_readable(&strings, *envp, STRING_LIMIT))
			return false;
	}
	return true;
}

/* ---- what it means --------------------------------------------------------------------------- */

/* In the header that all processes of this host share: it is whole whoever ends, and how. */
static void count(int missing, const char *name)
{
	struct gt_run_header *run = gt_run;

	if (missing != GT_LOOK_OUTSIDE && missing != GT_LOOK_JOINS)
		gt_run_absent((unsigned)missing, 1);
	else if (run && missing == GT_LOOK_OUTSIDE && !__atomic_fetch_add(&run->outside, 1, __ATOMIC_RELAXED))
		gt_text(run->outside_first, sizeof(run->outside_first), "%s", name);
}

static bool is_ours(const char *word, size_t length)
{
	const char *base = memrchr(word, '/', length);

	base = base ? base + 1 : word;
	return length - (size_t)(base - word) > strlen(OURS) && !memcmp(base, OURS, strlen(OURS));
}

/* Copies a list without our libraries; returns whether there was one. */
static bool copy_without_us(char *copy, const char *list)
{
	char *to = copy;
	bool found = false;

	while (*list) {
		size_t n = strcspn(list, ": ");

		if (is_ours(list, n)) {
			found = true;
		} else if (to && n) {
			if (to != copy)
				*to++ = ':';
			memcpy(to, list, n);
			to += n;
		}
		list += n + (list[n] != 0);
	}
	if (to)
		*to = 0;
	return found;
}

static char **entry_of(const char *begin)
{
	for (char **entry = environ; entry && *entry; entry++)
		if (!strncmp(*entry, begin, strlen(begin)))
			return entry;
	return NULL;
}

/* The program, and what it starts by ways that are not seen, has all of our libraries in its LD_PRELOAD. */
static void restore_list(void)
{
	char **some = entry_of(PRELOAD), **whole = entry_of(WHOLE);
	uint32_t had = 0, held = 0;

	if (some)
		had = gt_needed_hide(NULL, *some + strlen(PRELOAD), shown_rows, ROWS, 0);
	if (some && whole) {
		held = gt_needed_hide(NULL, *whole + strlen(WHOLE), shown_rows, ROWS, had);
		*some = *whole + strlen(WHOLE) - strlen(PRELOAD);
	}
	for (; whole && *whole; whole++)
		whole[0] = whole[1];
	gt_shown_begin(had, held);
}

__attribute__((constructor(101))) static void look_at_this_process(void)
{
	const char *list;

	restore_list();
	list = gt_text_env(environ, "LD_PRELOAD");
	preloaded = list && copy_without_us(NULL, list);
}

/* The first of our libraries is where the next program will look for it. */
static bool reachable(const char *list)
{
	char path[1024];

	for (size_t n; *list; list += n + (list[n] != 0)) {
		n = strcspn(list, ": ");
		if (n >= sizeof(path) || *list != '/' || !is_ours(list, n))
			continue;
		memcpy(path, list, n);
		path[n] = 0;
		return GT_SYS3(SYS_faccessat, AT_FDCWD, path, R_OK) != -ENOENT;
	}
	return true;
}

/* The list of a program that was started without us in between may have been cut before. */
static const char *list_in(char *const *envp)
{
	const char *some = envp ? gt_text_env(envp, "LD_PRELOAD") : NULL;
	const char *whole = some ? gt_text_env(envp, GT_PRELOAD_VAR) : NULL;

	return whole ? whole : some;
}

/* For the pointers, one more, and both lists. */
static size_t words_for(char *const *envp, const char *list)
{
	size_t n = 0;

	while (envp[n])
		n++;
	return n + 2 + (sizeof(PRELOAD) + sizeof(WHOLE) + 2 * strlen(list)) / sizeof(*envp) + 1;
}

struct gt_exec_look gt_exec_look(int dir, const char *file, bool search, char *const *envp)
{
	struct gt_exec_look look = { .missing = GT_LOOK_JOINS };
	enum kind kind = FINE;
	const char *list;
	bool ours;

	look.refused = !all_readable(file, envp);
	if (look.refused)
		return look;
	list = list_in(envp);
	ours = list && copy_without_us(NULL, list);
	if (ours)
		kind = kind_of(dir, file, search, envp, &look.shown);
	else if (preloaded)
		kind = ALONE;
	if (kind == FINE || kind == SCRIPT)
		look.missing = gt_next_absent();
	else if (kind == TIGHT)
		look.missing = GT_ABSENT_MEMORY;
	else
		look.missing = GT_LOOK_OUTSIDE;
	if (ours && look.missing == GT_LOOK_JOINS && !reachable(list))
		look.missing = GT_LOOK_OUTSIDE;
	if (look.missing == GT_LOOK_JOINS) {
		if (ours && gt_needed_hide(NULL, list, shown_rows, ROWS, look.shown))
			look.words = words_for(envp, list);
		return look;
	}
	count(look.missing, *file ? gt_text_base(file) : "a program");
	/* A static or privileged program cannot load them, and may start others that can. */
	if (ours && kind != STATIC && kind != PRIVILEGED)
		look.words = words_for(envp, list);
	return look;
}

char **gt_exec_env(const struct gt_exec_look *look, char *const *envp, char **space)
{
	const char *list = list_in(envp);
	char *some = (char *)(space + look->words) - sizeof(PRELOAD) - strlen(list);
	char *whole = some - sizeof(WHOLE) - strlen(list);
	size_t to = 0, put = 0;

	memcpy(some, PRELOAD, sizeof(PRELOAD));
	if (look->missing == GT_LOOK_JOINS)
		gt_needed_hide(some + strlen(PRELOAD), list, shown_rows, ROWS, look->shown);
	else
		copy_without_us(some + strlen(PRELOAD), list);
	for (size_t i = 0; envp[i]; i++) {
		bool is_list = !strncmp(envp[i], PRELOAD, strlen(PRELOAD));

		if (!is_list && strncmp(envp[i], WHOLE, strlen(WHOLE)))
			space[to++] = envp[i];
		else if (is_list && some[strlen(PRELOAD)] && !put++)
			space[to++] = some;
	}
	if (look->missing == GT_LOOK_JOINS) {
		gt_text(whole, sizeof(WHOLE) + strlen(list), "%s%s", WHOLE, list);
		space[to++] = whole;
	}
	space[to] = NULL;
	return space;
}

void gt_exec_not_started(const struct gt_exec_look *look)
{
	struct gt_run_header *run = gt_run;

	if (look->missing == GT_LOOK_OUTSIDE && run)
		__atomic_fetch_sub(&run->outside, 1, __ATOMIC_RELAXED);
	else if (look->missing != GT_LOOK_OUTSIDE && look->missing != GT_LOOK_JOINS)
		gt_run_absent((unsigned)look->missing, -1);
}
