/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gputrace-cc and its other names: a compiler that instruments. It adds options in front of the
 * user's and becomes the real compiler, so that exit status, output and signals are the compiler's.
 *
 * Limits: says nothing of its own unless something cannot be traced; leaves alone what is not
 * meant for tracing (questions, experiments of configure scripts, freestanding and foreign code).
 */
#include "config.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "instrument/cc.h"
#include "tools/paths.h"
#include "tools/wraps.h"

#define GUARD   GT_CC_GUARD
#define STARTED "VT_WRAPPER_STARTED" /* what was started for this call so far: files, each behind a newline */

enum language { C, CXX, FORTRAN };

static const struct role {
	const char *name; /* what follows "gputrace-" */
	enum language language;
	const char *variable;    /* names the compiler */
	const char *defaults[4]; /* else the first of these that is there */
	const char *behind[3];   /* MPI: variables that name the compiler behind the wrapper */
} roles[] = {
	{"cc", C, "VT_CC", {GT_DEFAULT_CC, "cc", "gcc", "clang"}, {NULL}},
	{"c++", CXX, "VT_CXX", {GT_DEFAULT_CXX, "c++", "g++", "clang++"}, {NULL}},
	{"fc", FORTRAN, "VT_FC", {GT_DEFAULT_FC, "gfortran", "flang-new", "flang"}, {NULL}},
	{"mpicc", C, "VT_MPICC", {"mpicc"}, {"OMPI_CC", "MPICH_CC", "I_MPI_CC"}},
	{"mpic++", CXX, "VT_MPICXX", {"mpic++", "mpicxx", "mpiCC"},
	 {"OMPI_CXX", "MPICH_CXX", "I_MPI_CXX"}},
	{"mpifc", FORTRAN, "VT_MPIFC", {"mpifort", "mpif90"}, {"OMPI_FC", "MPICH_FC", "I_MPI_FC"}},
	{"nvcc", CXX, "VT_NVCC", {"nvcc", "/usr/local/cuda/bin/nvcc"}, {NULL}},
};
enum { CC, CXX_, FC, MPICC, MPICXX, MPIFC, NVCC, ROLES };

/* The state of this call. */
static struct {
	const struct role *role;
	const char *name; /* as we were called */
	bool all, show, verbose;
	const char *wraps[32]; /* --gputrace-wrap */
	size_t wraps_n;
	char **given; /* the user's words without ours */
	size_t given_n;
} call;

/* The command line that is being made. */
static struct {
	const char **words;
	size_t n, room;
} out;

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...)
{
	va_list args;

	fprintf(stderr, "%s: ", call.name);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
}

static void *checked(void *memory)
{
	if (!memory) {
		say("no memory");
		exit(1);
	}
	return memory;
}

static void add(const char *word)
{
	if (out.n + 2 > out.room) {
		out.room = 2 * out.room + 64;
		out.words = checked(realloc(out.words, out.room * sizeof(*out.words)));
	}
	out.words[out.n++] = word;
	out.words[out.n] = NULL;
}

/* Adds the words of a variable, separated by blanks; quotes hold together. */
static void add_words(const char *text)
{
	char *copy, *to;

	if (!text)
		return;
	copy = checked(strdup(text));
	for (char *p = copy; *p;) {
		char quote = '\0';

		p += strspn(p, " \t\n");
		if (!*p)
			break;
		add(to = p);
		for (; *p && (quote || !strchr(" \t\n", *p)); p++) {
			if (quote ? *p == quote : (*p == '"' || *p == '\''))
				quote = quote ? '\0' : *p;
			else
				*to++ = *p;
		}
		p += *p != '\0';
		*to = '\0';
	}
}

static const char *base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* ---- the compiler behind us -------------------------------------------------------------------- */

static bool same_file(const char *path, const char *other)
{
	struct stat a, b;

	return !stat(path, &a) && !stat(other, &b) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* This program, or a compiler that has called us back (a script): it would do so again, for ever. */
static bool is_self(const char *path)
{
	char file[PATH_MAX];
	const char *p = getenv(STARTED);

	for (; p && *p == '\n'; p += 1 + strlen(file)) {
		snprintf(file, sizeof(file), "%.*s", (int)strcspn(p + 1, "\n"), p + 1);
		if (same_file(path, file))
			return true;
	}
	return same_file(path, "/proc/self/exe");
}

/* For whoever calls us back. */
static void remember(const char *path)
{
	const char *list = getenv(STARTED);
	size_t size = (list ? strlen(list) : 0) + strlen(path) + 2;
	char *longer = checked(malloc(size));

	snprintf(longer, size, "%s\n%s", list ? list : "", path);
	if (!strchr(path, '\n'))
		setenv(STARTED, longer, 1);
	free(longer);
}

/* As gt_path_command, but nothing that is_self. */
static bool find(const char *word, char *path, size_t size)
{
	const char *folders = getenv("PATH");

	if (strchr(word, '/') || !folders)
		return gt_path_command(word, path, size) == 0 && !is_self(path);
	for (const char *p = folders; p; p = strchr(p, ':') ? strchr(p, ':') + 1 : NULL) {
		size_t n = strcspn(p, ":");
		int length = snprintf(path, size, "%.*s%s%s", (int)n, p, n ? "/" : "./", word);

		if (length > 0 && (size_t)length < size && !access(path, X_OK) && !is_self(path)) {
			struct stat st;

			if (!stat(path, &st) && S_ISREG(st.st_mode))
				return true;
		}
	}
	return false;
}

/* gputrace-cc gcc-12 -c x.c, and CCACHE_PREFIX: the first word names a compiler. */
static bool names_compiler(const char *word)
{
	static const char *const names[] = {"gcc", "g++", "clang", "clang++", "cc", "c++", "gfortran",
					    "flang", "icx", "icpx", "ifx", "nvc", "nvc++", "nvfortran",
					    "craycc", "crayCC", "armclang"};
	const char *name = base(word);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *at = strstr(name, names[i]);
		const char *end = at ? at + strlen(names[i]) : NULL;

		/* x86_64-linux-gnu-gcc-12 */
		if (at && (at == name || at[-1] == '-') && end[strspn(end, "-.0123456789")] == '\0')
			return true;
	}
	return false;
}

/* Is one of these words the name of an MPI compiler (or of OpenSHMEM's, which is the same program)? */
static bool names_mpi(const char *text)
{
	static const char *const names[] = {"mpi", "gputrace-mpi", "oshc", "oshf", "oshC", "shmem"};
	const char *word = text + strspn(text, " \t\n\"'");

	for (size_t n; *word; word += n + strspn(word + n, " \t\n\"'")) {
		const char *name = word;

		n = strcspn(word, " \t\n\"'");
		for (const char *p = word; p < word + n; p++)
			if (*p == '/')
				name = p + 1;
		if (*word == '-' || memchr(word, '=', n))
			continue;
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			if (!strncmp(name, names[i], strlen(names[i])))
				return true;
	}
	return false;
}

/* The variable of this role; an MPI compiler may also be named where its language's compiler is. */
static const char *named_by(const struct role *role)
{
	const char *plain = roles[role->language].variable, *name = getenv(plain);

	return role->behind[0] && !getenv(role->variable) && name && names_mpi(name) ? plain : role->variable;
}

static bool choose_default(const struct role *role, char *path, size_t size)
{
	for (size_t i = 0; i < 4 && role->defaults[i]; i++) {
		out.n = 0;
		add_words(role->defaults[i]);
		if (out.n && find(out.words[0], path, size))
			return true;
	}
	return false;
}

/* Puts the compiler's words into `out` and its file into `path`. */
static bool choose_compiler(char *path, size_t size)
{
	const struct role *role = call.role;
	const char *variable = named_by(role), *wanted = getenv(GUARD) ? NULL : getenv(variable);

	if (call.given_n && call.given[0][0] != '-' && names_compiler(call.given[0]) &&
	    find(call.given[0], path, size)) {
		add(call.given[0]);
		call.given++;
		call.given_n--;
		return true;
	}
	if (wanted && *wanted) {
		add_words(wanted);
		if (out.n && find(out.words[0], path, size))
			return true;
		if (out.n && gt_path_command(out.words[0], path, size)) {
			say("%s=%s: compiler not found", variable, wanted);
			return false;
		}
		out.n = 0; /* it is ourselves: fall back */
	}
	/* Called by a compiler's own name, through a link: that one, further down in PATH. */
	if (strncmp(call.name, "gputrace-", 9) && find(call.name, path, size)) {
		add(call.name);
		return true;
	}
	if (choose_default(role, path, size))
		return true;
	/* MPI's compiler has called us as the one behind it (OMPI_CC=gputrace-mpicc). */
	if (getenv(GUARD) && role->behind[0]) {
		call.role = &roles[role->language];
		if (choose_default(call.role, path, size))
			return true;
	}
	say("no compiler found (%s); name one with %s", role->defaults[0], role->variable);
	return false;
}

/* ---- what is added ----------------------------------------------------------------------------- */

/*
 * Files whose functions gcc leaves out: system headers and all headers. gcc compares parts of the
 * name, so that an entry that is found in the name of the source itself would leave out all of it.
 */
static void add_exclusions(const struct gt_cc_job *job)
{
	static const char *const parts[] = {"/usr/include", "/usr/lib/gcc", "/include/c++/", ".h",
					    ".ipp", ".tcc", ".tpp", ".inl", ".cuh"};
	char *list = checked(calloc(1, 512));
	size_t files = sizeof(job->files) / sizeof(job->files[0]);

	strcpy(list, "-finstrument-functions-exclude-file-list=");
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		bool hit = false;

		for (size_t k = 0; k < job->sources && k < files; k++)
			hit |= strstr(job->files[k], parts[i]) != NULL;
		if (hit)
			continue;
		if (list[strlen(list) - 1] != '=')
			strcat(list, ",");
		strcat(list, parts[i]);
	}
	if (list[strlen(list) - 1] == '=')
		free(list);
	else
		add(list);
}

static void add_instrumentation(const struct gt_cc_job *job, const char *path, char *const *command)
{
	const char *manual = getenv("VT_INST");

	if (job->instruments || (manual && !strcmp(manual, "manual")))
		return;
	switch (gt_cc_ask(path, command)) {
	case GT_CC_INLINED:
		/*
		 * All: none is inlined but what must be. With -finstrument-functions clang calls what must be
		 * inlined, and std::string's are in no library (LLVM issue 50742).
		 */
		add("-finstrument-functions-after-inlining");
		if (call.all)
			add("-fno-inline");
		break;
	case GT_CC_EXCLUDE:
		add("-finstrument-functions");
		if (!call.all)
			add_exclusions(job);
		break;
	case GT_CC_PLAIN:
		add("-finstrument-functions");
		break;
	case GT_CC_NONE:
		say("%s cannot instrument functions: only the user API and preloaded libraries are "
			"recorded",
		    command[0]);
		break;
	}
}

static bool is_system_folder(const char *folder)
{
	static const char *const names[] = {"/usr/include", "/usr/local/include", "/lib", "/usr/lib",
					    "/lib64", "/usr/lib64"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(folder, names[i]))
			return true;
	/* Debian's /usr/lib/x86_64-linux-gnu */
	return (!strncmp(folder, "/usr/lib/", 9) || !strncmp(folder, "/lib/", 5)) &&
	       strstr(folder, "-linux-gnu") && !strchr(strstr(folder, "-linux-gnu"), '/');
}

/* The headers come last: they shadow nothing of the user's. */
static void add_headers(const struct gt_cc_job *job)
{
	static char folder[PATH_MAX];
	bool looked_for = job->raw || call.role->language == FORTRAN; /* include lines of its own */

	if (!looked_for || !gt_path_includedir(folder, sizeof(folder)) || is_system_folder(folder))
		return;
	add(call.role->language == FORTRAN ? "-I" : "-idirafter");
	add(folder);
}

static void add_library(const char *libdir, const char *name)
{
	size_t size = strlen(libdir) + strlen(name) + 2;
	char *path = checked(malloc(size));

	snprintf(path, size, "%s/%s", libdir, name);
	if (access(path, R_OK))
		free(path);
	else
		add(path);
}

static bool is_mpi(const char *word)
{
	return !strcmp(word, "-lmpi") || !strcmp(word, "-lmpich");
}

/* An MPI compiler, or (OMPI_CC=gputrace-cc mpicc) the compiler behind one. */
static bool links_mpi(void)
{
	if (call.role->behind[0])
		return true;
	for (size_t i = 0; i < call.given_n; i++)
		if (is_mpi(call.given[i]))
			return true;
	return false;
}

/* libkokkoscore, as a file or by -l, also under a name of a distribution's (trilinos_kokkoscore). */
static bool links_kokkos(void)
{
	for (size_t i = 0; i < call.given_n; i++)
		if (strstr(call.given[i], "kokkoscore"))
			return true;
	return false;
}

static bool links_openmp(void)
{
	for (size_t i = 0; i < call.given_n; i++)
		if (!strncmp(call.given[i], "-fopenmp", strlen("-fopenmp")) ||
		    !strcmp(call.given[i], "-lomp"))
			return true;
	return false;
}

/*
 * Our libraries stand before all others, so that calls to those come to us first. They are named
 * as files: a -L would change where the user's libraries are found.
 */
static void add_libraries(const struct gt_cc_job *job)
{
	static char libdir[PATH_MAX];

	if (!gt_path_libdir(libdir, sizeof(libdir)))
		return;
	add("-Wl,--push-state,--no-as-needed");
#define GT_ADAPTER(library, always, asked, linked, inject, what) \
	if (!job->shared && (linked)) /* interception is the program's business, not a library's */ \
		add_library(libdir, library);
#include "registry/adapters.def"
	add_library(libdir, "libgputrace.so");
	add("-Wl,--pop-state");
	if (!is_system_folder(libdir)) {
		add("-Wl,--enable-new-dtags");
		add("-Xlinker");
		add("-rpath");
		add("-Xlinker");
		add(libdir);
	}
}

/*
 * Wrapped libraries: the linker sends calls to the wrappers, which stand behind the user's words; the
 * libraries among those are named once more, because the wrappers want what nobody else wanted.
 */
static int add_wraps(void)
{
	char why[PATH_MAX + 256];

	for (size_t i = 0; i < call.wraps_n; i++) {
		char *list = checked(malloc(PATH_MAX + 8)), *archive = checked(malloc(PATH_MAX));

		/* The driver opens what begins with @ itself; behind -Wl the linker does. */
		strcpy(list, "-Wl,@");
		if (!gt_wrap_file(call.wraps[i], GT_WRAP_LIST, list + 5, PATH_MAX, why, sizeof(why)) ||
		    !gt_wrap_file(call.wraps[i], GT_WRAP_ARCHIVE, archive, PATH_MAX, why, sizeof(why))) {
			say("%s", why);
			return 2;
		}
		if (strchr(list + 4, ',')) {
			say("%s: the name must not contain a comma", list + 5);
			return 2;
		}
		add(list);
		add(archive);
	}
	for (size_t i = 0; i < call.given_n; i++) {
		const char *word = call.given[i], *dot = strrchr(word, '.');

		if (!strcmp(word, "-l") && i + 1 < call.given_n) {
			add(word);
			add(call.given[++i]);
		} else if (!strncmp(word, "-l", 2) || !strncmp(word, "-Wl,-B", 6) ||
			   (*word != '-' && dot && !strcmp(dot, ".a"))) {
			add(word);
		}
	}
	return 0;
}

static bool links(const struct gt_cc_job *job)
{
	return !job->stops_early && !job->relocatable && job->headers < job->inputs;
}

/*
 * The user's words. mpi: our library has all the names of MPI's, so that a linker which leaves out
 * what nobody needs would leave out MPI itself; an MPI compiler names it behind all of this.
 */
static void add_given(bool mpi)
{
	for (size_t i = 0; i < call.given_n; i++) {
		if (mpi && is_mpi(call.given[i]))
			add("-Wl,--no-as-needed");
		add(call.given[i]);
	}
	if (mpi && call.role->behind[0])
		add("-Wl,--no-as-needed");
}

static bool traceable(const struct gt_cc_job *job)
{
	return !job->information && !job->probe && job->inputs && !job->other_target &&
	       !job->freestanding && !getenv(GUARD);
}

static void add_ours(const struct gt_cc_job *job, const char *path)
{
	static const char *const variables[] = {"VT_CFLAGS", "VT_CXXFLAGS", "VT_FCFLAGS"};
	size_t n = out.n;
	char **command = checked(calloc(n + 1, sizeof(*command)));

	memcpy(command, out.words, n * sizeof(*command));
	if (job->sources)
		add_headers(job);
	if (job->sources && !job->only_preprocess) {
		add_instrumentation(job, path, command);
		add_words(getenv(variables[call.role->language]));
	}
	if (links(job) && job->fixed)
		say("-static: this program cannot be traced; link it dynamically");
	else if (links(job) && (!job->no_libraries || job->shared || job->names_libc)) {
		add_libraries(job);
		add_words(getenv("VT_LDFLAGS"));
	}
	free(command);
}

/* ---- nvcc: the host compiler behind it is gputrace-c++ ------------------------------------------ */

static void add_nvcc_words(const struct gt_cc_job *job)
{
	char *host = checked(malloc(PATH_MAX));
	char *slash;

	if (job->information || job->probe || !call.given_n || !gt_path_self(host, PATH_MAX)) {
		free(host);
		for (size_t i = 0; i < call.given_n; i++)
			add(call.given[i]);
		return;
	}
	slash = strrchr(host, '/');
	snprintf(slash + 1, (size_t)(PATH_MAX - (slash + 1 - host)), "gputrace-c++");
	add("-ccbin");
	add(host);
	for (size_t i = 0; i < call.given_n; i++) {
		const char *word = call.given[i], *value = NULL;

		/* The host compiler that the user named goes behind ours. */
		if ((!strcmp(word, "-ccbin") || !strcmp(word, "--compiler-bindir")) &&
		    i + 1 < call.given_n)
			value = call.given[++i];
		else if (!strncmp(word, "-ccbin=", 7))
			value = word + 7;
		else if (!strncmp(word, "--compiler-bindir=", 18))
			value = word + 18;
		if (value) {
			struct stat st;
			char file[PATH_MAX];

			snprintf(file, sizeof(file), "%s/g++", value);
			setenv("VT_CXX", !stat(value, &st) && S_ISDIR(st.st_mode) ? file : value, 1);
		} else {
			add(word);
		}
	}
}

/* ---- the call ---------------------------------------------------------------------------------- */

/* C++ and Fortran by what is in the name, so that links of other names work, too. */
static const struct role *role_of(const char *name)
{
	const char *rest = strncmp(name, "gputrace-", 9) ? name : name + 9;
	bool mpi = !strncmp(rest, "mpi", 3);

	for (size_t i = 0; i < ROLES; i++)
		if (!strcmp(rest, roles[i].name))
			return &roles[i];
	if (strstr(rest, "nvcc"))
		return &roles[NVCC];
	if (strstr(rest, "++") || strstr(rest, "xx") || strstr(rest, "CC"))
		return &roles[mpi ? MPICXX : CXX_];
	if (strstr(rest, "fort") || strstr(rest, "f77") || strstr(rest, "f90") || strstr(rest, "flang"))
		return &roles[mpi ? MPIFC : FC];
	return &roles[mpi ? MPICC : CC];
}

static int help(void)
{
	printf("Usage: %s [--gputrace-OPTION ...] [compiler options] files\n"
	       "Calls the compiler so that the program records an OTF2 trace when it runs.\n\n"
	       "  --gputrace-all      instrument every function, also those in headers\n"
	       "  --gputrace-wrap=W   record the calls of a library: a wrapper of gputrace libwrapgen\n"
	       "  --gputrace-show     print the compiler's command line, do not run it\n"
	       "  --gputrace-verbose  print it on standard error, then run it\n"
	       "  --gputrace-help     print this help\n\n"
	       "%s names the compiler; VT_CFLAGS, VT_CXXFLAGS, VT_FCFLAGS and VT_LDFLAGS add options\n"
	       "for it; VT_INST=manual leaves functions alone. Everything else is the compiler's own.\n",
	       call.name, call.role->variable);
	return 0;
}

/* Sorts out our own options. False: --gputrace-help or a wrong one, with the exit status. */
static bool take_options(int argc, char **argv, int *status)
{
	call.given = checked(calloc((size_t)argc + 1, sizeof(*call.given)));
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--gputrace-all")) {
			call.all = true;
		} else if (!strcmp(argv[i], "--gputrace-show")) {
			call.show = true;
		} else if (!strcmp(argv[i], "--gputrace-verbose")) {
			call.verbose = true;
		} else if (!strncmp(argv[i], "--gputrace-wrap=", 16)) {
			if (call.wraps_n == sizeof(call.wraps) / sizeof(call.wraps[0])) {
				say("more than %zu wrapped libraries", call.wraps_n);
				*status = 2;
				return false;
			}
			call.wraps[call.wraps_n++] = argv[i] + 16;
		} else if (!strcmp(argv[i], "--gputrace-help")) {
			*status = help();
			return false;
		} else if (!strncmp(argv[i], "--gputrace-", 11)) {
			say("unknown option %s; see %s --gputrace-help", argv[i], call.name);
			*status = 2;
			return false;
		} else {
			call.given[call.given_n++] = argv[i];
		}
	}
	return true;
}

/* In a form that a shell would take. */
static void print_command(FILE *to)
{
	for (size_t i = 0; i < out.n; i++) {
		const char *w = out.words[i];

		if (i)
			fputc(' ', to);
		if (*w && w[strspn(w, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				      "-_+=./,:@%")] == '\0') {
			fputs(w, to);
			continue;
		}
		fputc('\'', to);
		for (; *w; w++) {
			if (*w == '\'')
				fputs("'\\''", to);
			else
				fputc(*w, to);
		}
		fputc('\'', to);
	}
	fputc('\n', to);
}

/*
 * MPI's wrapper shall call the compiler that the user named for ours: not if that is an MPI compiler, which
 * would start itself for ever.
 */
static void name_behind(void)
{
	const char *behind = call.role->behind[0] ? getenv(roles[call.role->language].variable) : NULL;

	for (size_t i = 0; behind && *behind && !names_mpi(behind) && i < 3; i++)
		setenv(call.role->behind[i], behind, 0);
}

int main(int argc, char **argv)
{
	char path[PATH_MAX];
	struct gt_cc_job job;
	int status = 0;

	call.name = argc > 0 ? base(argv[0]) : "gputrace-cc";
	call.role = role_of(call.name);
	if (!take_options(argc, argv, &status))
		return status;
	if (!choose_compiler(path, sizeof(path)))
		return 127;
	remember(path);
	gt_cc_read(&job, call.given);
	if (call.role == &roles[NVCC]) {
		add_nvcc_words(&job);
	} else {
		name_behind();
		if (traceable(&job))
			add_ours(&job, path);
		add_given(traceable(&job) && links(&job) && !job.shared && links_mpi());
		if (call.wraps_n && traceable(&job) && links(&job) && !job.fixed)
			status = add_wraps();
		if (status)
			return status;
	}
	if (call.verbose && job.probe)
		say("%s is a compiler check of a build system: not instrumented", job.probe);
	if (call.show || call.verbose)
		print_command(call.show ? stdout : stderr);
	if (call.show)
		return fflush(stdout) ? 1 : 0;
	if (call.role != &roles[NVCC])
		setenv(GUARD, "1", 1);
	execv(path, (char *const *)(void *)out.words);
	say("%s: %s", path, strerror(errno));
	return errno == ENOENT ? 127 : 126;
}
