/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds out which instrumentation a compiler understands.
 *
 * The compiler's file answers in less than a millisecond: gcc's driver holds the names of its
 * options, clang's names its library. Whatever else it may be (a script, ccache, mpicc) is asked
 * itself with -###, which runs the driver and nothing behind it.
 *
 * Limits: remembers nothing between two calls of the wrapper.
 */
#include "config.h"
#include "instrument/cc.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define LARGEST_DRIVER (8 << 20) /* reading more takes longer than asking */

static bool holds(const char *file, size_t size, const char *text)
{
	return memmem(file, size, text, strlen(text)) != NULL;
}

static enum gt_cc_style look_into(const char *path)
{
	enum gt_cc_style style = GT_CC_NONE;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	char *file;

	if (fd < 0)
		return GT_CC_NONE;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size > 4 && st.st_size < LARGEST_DRIVER) {
		size_t size = (size_t)st.st_size;

		file = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (file != MAP_FAILED) {
			/* Another gputrace-cc holds these texts, too, and this one: not a driver. */
			if (!memcmp(file, "\177ELF", 4) && !holds(file, size, "GPUTRACE_CC_WRAPPER")) {
				if (holds(file, size, "finstrument-functions-exclude-file-list="))
					style = GT_CC_EXCLUDE;
				else if (holds(file, size, "libclang-cpp.so") ||
					 holds(file, size, "finstrument-functions-after-inlining"))
					style = GT_CC_INLINED;
			}
			munmap(file, size);
		}
	}
	close(fd);
	return style;
}

static bool accepts(const char *path, char *const *command, const char *option)
{
	static const char *const rest[] = {"-c", "-x", "c", "/dev/null", NULL};
	const char *words[64];
	size_t n = 0;
	int status;
	pid_t pid;

	for (; command[n] && n < 40; n++)
		words[n] = command[n];
	words[n++] = "-###";
	words[n++] = option;
	for (size_t i = 0; i < 5; i++)
		words[n++] = rest[i];
	pid = fork();
	if (pid < 0)
		return false;
	if (pid == 0) {
		int null = open("/dev/null", O_RDWR);

		if (null >= 0) {
			dup2(null, 0);
			dup2(null, 1);
			dup2(null, 2);
		}
		setenv(GT_CC_GUARD, "1", 1); /* a script may call us back: it is not asked once more */
		execv(path, (char *const *)(void *)words);
		_exit(127);
	}
	return waitpid(pid, &status, 0) == pid && status == 0;
}

enum gt_cc_style gt_cc_ask(const char *path, char *const *command)
{
	enum gt_cc_style style = look_into(path);

	if (style != GT_CC_NONE)
		return style;
	if (accepts(path, command, "-finstrument-functions-after-inlining"))
		return GT_CC_INLINED;
	if (accepts(path, command, "-finstrument-functions-exclude-file-list=.h"))
		return GT_CC_EXCLUDE;
	if (accepts(path, command, "-finstrument-functions"))
		return GT_CC_PLAIN;
	return GT_CC_NONE;
}
