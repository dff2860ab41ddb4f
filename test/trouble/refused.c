/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls about processes that Linux refuses because of what it is given: addresses that are none, names that
 * are too long or end nowhere. Prints what each returns; a handler jumps out where a call does not return.
 *
 * Limits: what the C library itself reads (execvp's name, posix_spawnp's) is left out.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static sigjmp_buf out;

static void jump(int number)
{
	siglongjmp(out, number);
}

#define TRY(call)                                                                                  \
	do {                                                                                       \
		long rc_;                                                                          \
		errno = 0;                                                                         \
		if (sigsetjmp(out, 1)) {                                                           \
			printf("%s: SIGSEGV\n", #call);                                            \
			break;                                                                     \
		}                                                                                  \
		rc_ = (long)(call);                                                                \
		printf("%s: %ld, errno %d\n", #call, rc_, errno);                                  \
	} while (0)

static void waits(void *bad)
{
	for (int i = 0; i < 5; i++)
		if (!fork())
			_exit(0);
	TRY(waitpid(-1, bad, 0) > 0);
	TRY(wait(bad) > 0);
	TRY(wait3(bad, 0, NULL) > 0);
	TRY(wait4(-1, bad, 0, NULL) > 0);
	TRY(waitid(P_ALL, 0, bad, WEXITED));
	TRY(wait4(-1, NULL, 0, bad));
	TRY(waitpid(-1, bad, WNOHANG));
}

int main(void)
{
	char *const words[] = {(char *)"true", NULL};
	char *bad = (char *)8, *page, *last, *long_one;
	char *const bad_entry[] = {(char *)"A=B", bad, NULL};
	char *long_entry[2] = {NULL, NULL};
	int null = open("/dev/null", O_RDONLY);
	sigset_t mask;
	pid_t pid;

	setvbuf(stdout, NULL, _IONBF, 0);
	signal(SIGSEGV, jump);
	/* Neither a name nor a list may be read beyond this page. */
	page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(page + 4096, 4096, PROT_NONE);
	memset(page, 'a', 4096);
	last = page + 4096 - sizeof(char *);
	long_one = malloc(1 << 20);
	memset(long_one, 'a', (1 << 20) - 1);
	long_one[(1 << 20) - 1] = 0;
	long_entry[0] = long_one;

	TRY(execve(bad, words, environ));
	TRY(execve(NULL, words, environ));
	TRY(execve((char *)-1, words, environ));
	TRY(execve(page, words, environ));
	TRY(execve(long_one, words, environ));
	TRY(execve("", words, environ));
	TRY(execve("/nonexistent/true", words, environ));
	TRY(execve("/bin/true", words, (char **)bad));
	TRY(execve("/bin/true", words, (char **)-1));
	TRY(execve("/bin/true", words, bad_entry));
	TRY(execve("/bin/true", words, long_entry));
	TRY(execve("/bin/true", (char **)bad, environ));
	memcpy(last, &words[0], sizeof(char *));
	TRY(execve("/bin/true", words, (char **)(void *)last));
	TRY(execv(bad, words));
	TRY(execv("/bin/true", (char **)bad));
	TRY(execl(bad, "true", NULL));
	TRY(execle("/bin/true", "true", NULL, bad));
	TRY(fexecve(null, words, (char **)bad));
	TRY(fexecve(-1, (char **)bad, (char **)bad));
	TRY(execveat(AT_FDCWD, bad, words, environ, 0));
	TRY(execveat(null, "", words, (char **)bad, AT_EMPTY_PATH));
	TRY(execvpe("/bin/true", words, (char **)bad));
	TRY(posix_spawn(&pid, bad, NULL, NULL, words, environ));
	TRY(posix_spawn(&pid, page, NULL, NULL, words, environ));
	TRY(posix_spawn(&pid, "/nonexistent", NULL, NULL, words, (char **)bad));
	TRY(posix_spawnp(&pid, "/nonexistent", NULL, NULL, words, bad_entry));
	TRY(syscall(SYS_execve, bad, words, environ));
	TRY(syscall(SYS_execve, "/bin/true", words, bad));
	TRY(prctl(PR_SET_NAME, bad, 0, 0, 0));
	TRY(chroot(bad));
	waits(bad);
	sigprocmask(SIG_SETMASK, NULL, &mask);
	printf("blocked signals: %d\n", !sigisemptyset(&mask));
	return 5;
}
