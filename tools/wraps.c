/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds library wrappers (tools/wraps.h).
 *
 * Limits: looks in <libdir>/gputrace and in the folder that was named, not below.
 */
#include "config.h"
#include "tools/wraps.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "tools/paths.h"

#define PREFIX "libgputrace-wrap-"

static const char *const endings[] = {
	[GT_WRAP_SHARED] = ".so",
	[GT_WRAP_ARCHIVE] = "-link.a",
	[GT_WRAP_LIST] = ".link",
};

/* Is this the file of wrapper `name` (NULL: of any)? */
static bool fits(const char *file, const char *name, const char *ending)
{
	size_t length = strlen(file), before = strlen(PREFIX), behind = strlen(ending);

	if (length <= before + behind || strncmp(file, PREFIX, before) ||
	    strcmp(file + length - behind, ending))
		return false;
	return !name || (strlen(name) == length - before - behind &&
			 !strncasecmp(file + before, name, strlen(name)));
}

static bool look(const char *folder, const char *name, const char *ending, char *path, size_t size)
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;
	bool found = false;

	while (dir && !found && (entry = readdir(dir))) {
		int n;

		if (!fits(entry->d_name, name, ending))
			continue;
		n = snprintf(path, size, "%s/%s", folder, entry->d_name);
		found = n > 0 && (size_t)n < size;
	}
	if (dir)
		closedir(dir);
	return found;
}

/* wrappers.absent: a line each, name and reason with a tab between (libwrapgen/shipped). */
void gt_wrap_absent(gt_wrap_each *each, void *data)
{
	char libdir[PATH_MAX], path[PATH_MAX + 32], line[512];
	FILE *file = NULL;

	if (gt_path_libdir(libdir, sizeof(libdir))) {
		snprintf(path, sizeof(path), "%s/gputrace/wrappers.absent", libdir);
		file = fopen(path, "re");
	}
	while (file && fgets(line, sizeof(line), file)) {
		char *why = strchr(line, '\t');

		line[strcspn(line, "\n")] = '\0';
		if (why)
			*why++ = '\0';
		if (why && *line)
			each(line, why, data);
	}
	if (file)
		fclose(file);
}

struct wanted {
	const char *name;
	char *why;
	size_t size;
};

static void take_reason(const char *name, const char *why, void *data)
{
	struct wanted *w = data;

	if (!strcasecmp(name, w->name))
		snprintf(w->why, w->size, ": %s", why);
}

void gt_wrap_why(const char *name, char *why, size_t size)
{
	struct wanted wanted = {name, why, size};

	*why = '\0';
	gt_wrap_absent(take_reason, &wanted);
}

bool gt_wrap_file(const char *word, enum gt_wrap_part part, char *path, size_t size, char *why,
		  size_t why_size)
{
	char full[PATH_MAX], folder[PATH_MAX + 16], reason[512];
	struct stat st;

	if (strchr(word, '/') || !strcmp(word, ".")) {
		if (!realpath(word, full) || stat(full, &st)) {
			snprintf(why, why_size, "there is no wrapper %s", word);
			return false;
		}
		if (!S_ISDIR(st.st_mode)) {
			snprintf(path, size, "%s", full);
			return true;
		}
		if (part == GT_WRAP_LIST) {
			int n = snprintf(path, size, "%s/link.txt", full);

			if (n > 0 && (size_t)n < size && !stat(path, &st))
				return true;
		} else if (look(full, NULL, endings[part], path, size)) {
			return true;
		}
		snprintf(why, why_size, "%s holds no wrapper that is built: gputrace libwrapgen --build %s%s",
			 word, part == GT_WRAP_SHARED ? "" : "--static ", word);
		return false;
	}
	if (*word && gt_path_libdir(full, sizeof(full))) {
		snprintf(folder, sizeof(folder), "%s/gputrace", full);
		if (look(folder, word, endings[part], path, size))
			return true;
	}
	gt_wrap_why(word, reason, sizeof(reason));
	if (!*reason)
		snprintf(reason, sizeof(reason), " (a folder is named with a slash: ./%.400s)", word);
	snprintf(why, why_size, "there is no wrapper '%s'%s", word, reason);
	return false;
}
