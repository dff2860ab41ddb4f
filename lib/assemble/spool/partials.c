/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists the partial archives that a spool holds already, with their processes.
 *
 * Limits: see spool.h.
 */
#include "config.h"

#include "lib/assemble/spool/partials.h"

#include "lib/assemble/util/io.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool gt_spool_covered(const struct gt_spool *spool, const struct gt_root *root, const char *folder)
{
	char line[400];
	const char *key = line;

	snprintf(line, sizeof(line), "%s/%s", root->name, folder);
	return spool->covered_count && bsearch(&key, spool->covered, spool->covered_count,
					       sizeof(*spool->covered), compare_lines);
}

/* Which processes a part is made of. A list without its last line says too little. */
static int read_covers(int home, const char *folder, char **covers)
{
	static const char end[] = GT_PART_COVERS_END;
	size_t n = strlen(end), length;
	char path[160];
	int rc;

	snprintf(path, sizeof(path), "%.20s/" GT_PART_COVERS, folder);
	rc = gt_read_text(home, path, covers);
	if (rc)
		return rc;
	length = strlen(*covers);
	if (length >= n && !strcmp(*covers + length - n, end) &&
	    (length == n || (*covers)[length - n - 1] == '\n')) {
		(*covers)[length - n] = 0;
		return 0;
	}
	free(*covers);
	return -EPROTO;
}

int gt_spool_list_partials(struct gt_spool *spool, int home, const char *name)
{
	DIR *dir = gt_folder_list(home, ".");
	struct dirent *entry;
	int rc = 0;

	if (!dir)
		return -errno;
	while (!rc && (entry = gt_folder_next(dir, &rc))) {
		struct gt_partial_ref *partials;
		char *covers;

		if (strncmp(entry->d_name, GT_PART_FOLDER, strlen(GT_PART_FOLDER)) ||
		    strlen(entry->d_name) > 20)
			continue;
		rc = read_covers(home, entry->d_name, &covers);
		if (rc)
			break; /* rather than to do without its processes */
		partials = realloc(spool->partials, (spool->partial_count + 1) * sizeof(*partials));
		if (!partials) {
			free(covers);
			rc = -ENOMEM;
			break;
		}
		spool->partials = partials;
		partials += spool->partial_count++;
		partials->covers = covers;
		snprintf(partials->path, sizeof(partials->path), "spool/%s%s%.20s", name, *name ? "/" : "",
			 entry->d_name);
	}
	closedir(dir);
	return rc;
}

static int compare_partials(const void *a, const void *b)
{
	const struct gt_partial_ref *x = a, *y = b;

	static const char first[] = "spool/" GT_PART_FOLDER;
	bool one = !strncmp(x->path, first, strlen(first)), two = !strncmp(y->path, first, strlen(first));

	return one != two ? two - one : strcmp(x->path, y->path);
}

/* Makes lines of the texts, and an order of the lines. */
static int index_covers(struct gt_spool *spool)
{
	size_t room = 0;

	for (size_t i = 0; i < spool->partial_count; i++)
		for (const char *at = spool->partials[i].covers; (at = strchr(at, '\n')); at++)
			room++;
	spool->covered = calloc(room + 1, sizeof(*spool->covered));
	if (!spool->covered)
		return -ENOMEM;
	for (size_t i = 0; i < spool->partial_count; i++)
		for (char *at = spool->partials[i].covers, *end; (end = strchr(at, '\n')); at = end + 1) {
			*end = 0;
			spool->covered[spool->covered_count++] = at;
		}
	qsort(spool->covered, spool->covered_count, sizeof(*spool->covered), compare_lines);
	return 0;
}

int gt_spool_sort_partials(struct gt_spool *spool)
{
	if (!spool->partial_count)
		return 0;
	qsort(spool->partials, spool->partial_count, sizeof(*spool->partials), compare_partials);
	return index_covers(spool);
}
