/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Open MPI hands to other hosts what it is told to, by a list in a variable or by -x, but refuses to start
 * anything if both are used; Hydra and srun hand on everything. So the list is set only if a launcher is seen
 * to be started without -x: as the command, behind one that starts it (timeout 40 mpirun), in a script (sh
 * -c, a file). A launcher's name that stands anywhere else (an argument, a string, a comment, a document in a
 * script) means nothing: the program may start it with -x, as it sees fit.
 *
 * Limits: a script that calls another one, or makes its command line of variables, is not understood:
 * gputrace run has to stand behind mpirun there. If a script starts a launcher without -x, and another
 * program that it calls starts Open MPI's with -x, the latter refuses. Of a script the first SCRIPT_MOST
 * bytes are read.
 */
#include "config.h"

#include "tools/hand_on.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/common/rundir.h"
#include "tools/options.h"

#define SCRIPT_MOST 65536

struct seen {
	bool launcher, list; /* one is started; one is with -x */
	/* of the present command: */
	enum { FIRST, BEHIND, ARGUMENT } at; /* BEHIND: one of its words may be the command that it starts */
	bool now, shell;     /* it is a launcher, a shell */
	bool code;           /* its next word is a command for that */
};

/* Programs that start others on other machines, where our environment does not follow by itself. */
static bool is_launcher(const char *word, size_t length)
{
	static const char *const names[] = {"mpirun", "mpiexec", "orterun", "prun",
					    "prterun", "srun", "aprun", "jsrun", "ibrun", "flux"};
	const char *name = word;
	size_t n;

	for (size_t i = 0; i < length; i++)
		if (word[i] == '/')
			name = word + i + 1;
	n = strcspn(name, "."); /* mpirun.openmpi, mpiexec.hydra */
	if (n > length - (size_t)(name - word))
		n = length - (size_t)(name - word);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(name, names[i], n) && !names[i][n])
			return true;
	return false;
}

/* Is the word, or the last part of its path, one of `names`, with NULL at the end? */
static bool is_one_of(const char *word, size_t length, const char *const *names)
{
	const char *slash = memrchr(word, '/', length), *name = slash ? slash + 1 : word;

	length -= (size_t)(name - word);
	while (*names && (strlen(*names) != length || strncmp(name, *names, length)))
		names++;
	return *names;
}

static bool is_shell(const char *word, size_t length)
{
	static const char *const names[] = {"sh", "bash", "dash", "zsh", "ksh", NULL};

	return is_one_of(word, length, names);
}

/* Is it a shell keyword or NAME=value, which the command follows? */
static bool is_prefix(const char *word, size_t length)
{
	static const char *const names[] = {"if", "then", "elif", "else", "while", "until", "do", "!", "{",
					    "time", "exec", "command", NULL};

	return is_one_of(word, length, names) || memchr(word, '=', length);
}

/* Its arguments end with a command, which it starts. */
static bool is_starter(const char *word, size_t length)
{
	static const char *const names[] = {"timeout", "env", "nice", "ionice", "nohup", "setsid", "time",
					    "stdbuf", "taskset", "numactl", "chrt", "prlimit", "perf",
					    "strace", NULL};

	return is_one_of(word, length, names);
}

static void begin_command(struct seen *seen)
{
	seen->at = FIRST;
	seen->now = seen->shell = seen->code = false;
}

static void take_word(const char *word, size_t length, struct seen *seen)
{
	/* "$MPI/bin/mpirun" */
	if (length > 2 && (*word == '"' || *word == '\'') && word[length - 1] == *word) {
		word++;
		length -= 2;
	}
	seen->list |= seen->now && length == 2 && !strncmp(word, "-x", 2);
	seen->code = seen->shell && *word == '-' && word[length - 1] == 'c';
	if (seen->at == ARGUMENT || (seen->at == FIRST && is_prefix(word, length)))
		return;
	seen->now = is_launcher(word, length);
	seen->launcher |= seen->now;
	seen->shell = is_shell(word, length);
	if (seen->now || seen->shell)
		seen->at = ARGUMENT;
	else if (seen->at == FIRST)
		seen->at = is_starter(word, length) ? BEHIND : ARGUMENT;
}

/* Up to a blank or separator that is not in quotes. `last`: a quote that ends what is looked at, or 0. */
static size_t word_length(const char *text, char last)
{
	size_t n = 0;

	for (char quote = 0; text[n] && (quote || (text[n] != last && !strchr(" \t\n;|&()`", text[n]))); n++)
		if (text[n] == '\\' && quote != '\'' && text[n + 1])
			n++;
		else if (quote ? text[n] == quote : text[n] == '"' || text[n] == '\'')
			quote = quote ? 0 : text[n];
	return n;
}

/* What follows the lines of a here-document (<<END), which begin at `text`. If no line ends it, it is none: a
 * shift in arithmetic looks like one. */
static const char *behind_document(const char *text, const char *word, size_t length)
{
	const char *begin = text;
	bool end = false;

	while (*text && !end) {
		const char *line = text + strspn(text, "\t");

		end = strcspn(line, "\n") == length && !strncmp(line, word, length);
		text = line + strcspn(line, "\n");
		text += *text == '\n';
	}
	return end ? text : begin;
}

/* The word that ends a here-document, without its quotes. 0: none begins here. */
static size_t document_end(const char *text, const char **word)
{
	if (strncmp(text, "<<", 2) != 0 || text[2] == '<')
		return 0;
	*word = text + 2 + (text[2] == '-');
	*word += strspn(*word, " \t\"'\\");
	return strcspn(*word, " \t\n\"';|&()<>");
}

/* Commands as a shell understands them. */
static void look_through(const char *text, struct seen *seen)
{
	const char *word = NULL;
	size_t document = 0, n;
	char last = 0;

	begin_command(seen);
	while (*text) {
		if (*text == '#') /* a comment; it may speak of mpirun */
			text += strcspn(text, "\n");
		if (seen->code && (*text == '"' || *text == '\'')) {
			last = *text++;
			begin_command(seen);
		}
		document = document ? document : document_end(text, &word);
		n = strncmp(text, "\\\n", 2) ? word_length(text, last) : 0;
		if (n)
			take_word(text, n, seen);
		text += n;
		if (*text == '\n' && document) {
			text = behind_document(text + 1, word, document);
			document = 0;
			begin_command(seen);
		} else if (!strncmp(text, "\\\n", 2)) {
			text += 2;
		} else if (*text) {
			if (strchr("\n;|&()`", *text) || *text == last)
				begin_command(seen);
			last = *text == last ? 0 : last;
			text++;
		}
	}
}


/* A script; or what a shell takes for one. */
static void look_into(const char *path, bool any, struct seen *seen)
{
	static char text[SCRIPT_MOST];
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) ? read(fd, text, sizeof(text) - 1) : -1;

	if (fd >= 0)
		close(fd);
	if (n < 2 || memchr(text, 0, (size_t)n) || (!any && strncmp(text, "#!", 2) != 0))
		return;
	text[n] = '\0';
	look_through(text, seen);
}

/* Does a process of another host need this variable ("NAME=value") to be recorded? */
static bool is_needed(const char *entry)
{
	static const char *const libraries[] = {
#define GT_LOADED_WITH(library, file, variable, asked, what) variable,
#define GT_ADAPTER(library, always, asked, linked, variables, what) variables,
#include "registry/adapters.def"
	};
	size_t length = strcspn(entry, "="), n;

	if (!strncmp(entry, "VT_", 3) || !strncmp(entry, "LD_PRELOAD=", 11))
		return true;
	for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++)
		for (const char *name = libraries[i]; *name; name += n + (name[n] != '\0')) {
			n = strcspn(name, " /");
			if (n == length && !strncmp(name, entry, n))
				return true;
		}
	return false;
}

static void set_list(void)
{
	static const char name[] = "OMPI_MCA_mca_base_env_list";
	static char list[16384];
	const char *old = getenv(name);
	size_t used = (size_t)snprintf(list, sizeof(list), "%s", old ? old : "");

	for (char **entry = environ; *entry && used < sizeof(list); entry++) {
		int length = (int)strcspn(*entry, "=");

		if (is_needed(*entry))
			used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%.*s", used ? ";" : "",
						 length, *entry);
	}
	if (used < sizeof(list))
		setenv(name, list, 1);
}

void gt_hand_on(const char *path, char **words)
{
	struct seen seen = {.launcher = false}, inside = seen;

	look_into(path, false, &inside);
	for (char **word = words; *word; word++) {
		if (word != words && seen.at != FIRST)
			look_into(*word, seen.shell, &inside);
		if (seen.code)
			look_through(*word, &inside);
		if (**word)
			take_word(*word, strlen(*word), &seen);
	}
	if (seen.list || inside.list)
		gt_say(1, "with Open MPI, -x LD_PRELOAD -x " GT_RUN_DIR_VAR
			  " is needed, too, for ranks on "
			  "other hosts to be recorded");
	else if (seen.launcher || inside.launcher)
		set_list();
}
