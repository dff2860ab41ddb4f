/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes of ours without what the user preloads; see anew.h.
 *
 * Executing this program is the only way to get rid of a library, and a safe one: an open file, its locks,
 * the process id, children, blocked and pending signals all stay. The descriptors of others are closed by
 * the kernel, at the same time as the libraries that may still count on them. It is the kernel's execve that
 * is called, as a library's own (fakechroot) may preload itself again.
 *
 * Limits: see anew.h.
 */
#include "config.h"

#include "tools/anew.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "lib/common/settings.h"
#include "lib/common/sys.h"

#define DUTY_VAR "GPUTRACE_DUTY"

static char **arguments; /* of main() */

static bool kept(int fd, const int *keep)
{
	while (*keep != -1 && *keep != fd)
		keep++;
	return *keep == fd;
}

/* Which descriptors outlive the execution? Without those to be kept the new image could do nothing. */
static bool mark(const int *keep)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;
	bool all = dir;

	errno = 0;
	while (all && (entry = readdir(dir))) {
		int fd = atoi(entry->d_name);

		if (fd > 2 && kept(fd, keep))
			all = !gt_sys_fcntl(fd, F_SETFD, 0);
		else if (fd > 2)
			gt_sys_fcntl(fd, F_SETFD, FD_CLOEXEC);
	}
	all = all && !errno;
	if (dir)
		closedir(dir);
	return all;
}

static bool is_foreign(const char *variable)
{
	return !strncmp(variable, "LD_PRELOAD=", 11) || !strncmp(variable, "LD_AUDIT=", 9);
}

void gt_anew(const char *duty, const char *state, const int *keep)
{
	char **env, *text;
	size_t n = 0, to = 0;

	while (environ[n])
		n++;
	env = calloc(n + 2, sizeof(*env));
	if (env && asprintf(&text, DUTY_VAR "=%s:%s", duty, state) > 0 && mark(keep)) {
		env[to++] = text;
		for (size_t i = 0; i < n; i++)
			if (!is_foreign(environ[i]))
				env[to++] = environ[i];
		GT_SYS3(SYS_execve, "/proc/self/exe", arguments, env);
		free(text);
	}
	free(env);
}

static void ignore(const char *sentence)
{
	(void)sentence; /* the first image has said it */
}

int gt_anew_duty(const struct gt_duty *duties, char **argv)
{
	const char *text = getenv(DUTY_VAR);
	size_t length = text ? strcspn(text, ":") : 0;

	arguments = argv;
	for (; text && text[length] && duties->name; duties++) {
		if (strlen(duties->name) != length || strncmp(text, duties->name, length) != 0)
			continue;
		unsetenv(DUTY_VAR); /* the text itself stays */
		prctl(PR_SET_NAME, "gputrace"); /* not "exe" */
		gt_settings_load(environ, ignore);
		return duties->run(text + length + 1);
	}
	return -1;
}

int gt_anew_high(int fd)
{
	uint64_t limit = gt_sys_limit(RLIMIT_NOFILE);
	int from = limit > 1024 ? 1000 : (int)limit - 24, high = -1;

	if (fd < 0)
		return fd;
	if (from > 2)
		high = fcntl(fd, F_DUPFD_CLOEXEC, from);
	if (high < 0)
		high = fcntl(fd, F_DUPFD_CLOEXEC, 3); /* those of the standard streams stay closed */
	close(fd);
	return high;
}
